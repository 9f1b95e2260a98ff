// Which addresses are nobody else's business: this machine's, private and link-local networks', clouds' metadata.
import { BlockList, isIP } from "node:net";

const INNER = new BlockList();
for (const [net, bits] of [
  ...[["0.0.0.0", 8] as const, ["10.0.0.0", 8] as const, ["100.64.0.0", 10] as const, ["127.0.0.0", 8] as const],
  ...[["169.254.0.0", 16] as const, ["172.16.0.0", 12] as const, ["192.0.0.0", 24] as const],
  ...[["192.168.0.0", 16] as const, ["198.18.0.0", 15] as const, ["224.0.0.0", 3] as const],
]) {
  INNER.addSubnet(net, bits, "ipv4");
}
for (const [net, bits] of [
  ...[["::", 96] as const, ["fc00::", 7] as const, ["fe80::", 9] as const, ["ff00::", 8] as const],
  // Ways to write an IPv4 address, which would be looked at under another rule.
  ...[["64:ff9b::", 96] as const, ["2002::", 16] as const, ["2001::", 32] as const],
]) {
  INNER.addSubnet(net, bits, "ipv6");
}

/** Whether an address is this machine's, a private or link-local network's, or nobody's in particular. */
export function isInner(address: string): boolean {
  return INNER.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
