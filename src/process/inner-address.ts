// Which addresses are nobody else's business: this machine's, private and link-local networks', clouds' metadata.
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

const INNER = new BlockList();
for (const [net, bits] of [
  ...[["0.0.0.0", 8] as const, ["10.0.0.0", 8] as const, ["100.64.0.0", 10] as const, ["127.0.0.0", 8] as const],
  ...[["169.254.0.0", 16] as const, ["172.16.0.0", 12] as const, ["192.0.0.0", 24] as const],
  ...[["192.168.0.0", 16] as const, ["198.18.0.0", 15] as const, ["224.0.0.0", 3] as const],
  // A cloud's own service for each of its machines, under an address like any other.
  ["168.63.129.16", 32] as const,
]) {
  INNER.addSubnet(net, bits, "ipv4");
}
for (const [net, bits] of [
  ...[["::", 96] as const, ["fc00::", 7] as const, ["fe80::", 9] as const, ["ff00::", 8] as const],
  // Ways to write an IPv4 address, which would be looked at under another rule.
  ...[["64:ff9b::", 96] as const, ["64:ff9b:1::", 48] as const, ["::ffff:0:0:0", 96] as const],
  ...[["2002::", 16] as const, ["2001::", 32] as const],
]) {
  INNER.addSubnet(net, bits, "ipv6");
}

/** An address of this machine with the network it is in: `203.0.113.5/24`. */
type OwnNetwork = string;

/**
 * Whether an address is this machine's, its networks', a private or link-local network's, or nobody's in particular. Machines
 * in a data centre, and every one with IPv6, have addresses that are like any other and are their own all the same.
 */
export function isInner(address: string): boolean {
  return isInnerTo(ownNetworks(), address);
}

export function isInnerTo(own: readonly OwnNetwork[], address: string): boolean {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  return INNER.check(address, family) || listOf(own).check(address, family);
}

function ownNetworks(): OwnNetwork[] {
  return Object.values(networkInterfaces()).flatMap((rows = []) => rows.flatMap(({ cidr }) => cidr ?? []));
}

function listOf(networks: readonly OwnNetwork[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [net = "", bits = ""] = network.split("/");
    list.addSubnet(net, Number(bits), isIP(net) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}
