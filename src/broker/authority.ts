// A certificate authority that lives as long as one door: it vouches for the hosts of what is lent there and for no others,
// and its key is in this process alone. The few structures of X.509 that takes are written by hand, with node:crypto's keys.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";

export interface Authority {
  /** What a client has to trust. */
  readonly certificate: string;
  /** For a server that is taken for this host. */
  contextFor(host: string): SecureContext;
}

const DAY_MS = 86_400_000;
/** A run that lasts longer begins anew. */
const LASTS_MS = 7 * DAY_MS;

export function makeAuthority(hosts: readonly string[], now = new Date()): Authority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = `nutshell broker ${randomBytes(6).toString("hex")}`;
  const extensions = [
    extension(BASIC_CONSTRAINTS, true, seq(BOOLEAN_TRUE, integer(Buffer.from([0])))),
    // Signs certificates, and nothing else.
    extension(KEY_USAGE, true, tlv(0x03, Buffer.from([2, 0x04]))),
    extension(SUBJECT_KEY, false, tlv(0x04, keyId(own.publicKey))),
    extension(NAME_CONSTRAINTS, true, constraints(hosts)),
  ];
  const validity = { from: new Date(now.getTime() - DAY_MS), to: new Date(now.getTime() + LASTS_MS) };
  const ca = certificate({
    issuer: name,
    subject: name,
    key: own.publicKey,
    signer: own.privateKey,
    extensions,
    validity,
  });
  const contexts = new Map<string, SecureContext>();
  const contextFor = (host: string): SecureContext => {
    const known = contexts.get(host);
    if (known !== undefined) return known;
    const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = certificate({
      issuer: name,
      subject: "nutshell broker",
      key: leaf.publicKey,
      signer: own.privateKey,
      validity,
      extensions: [
        extension(BASIC_CONSTRAINTS, true, seq()),
        extension(KEY_USAGE, true, tlv(0x03, Buffer.from([7, 0x80]))),
        extension(EXTENDED_USAGE, false, seq(oid(SERVER_AUTH))),
        extension(AUTHORITY_KEY, false, seq(tlv(0x80, keyId(own.publicKey)))),
        extension(ALTERNATIVE_NAME, false, seq(generalName(host))),
      ],
    });
    const made = createSecureContext({
      key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      cert: `${pem}${ca}`,
      minVersion: "TLSv1.2",
    });
    contexts.set(host, made);
    return made;
  };
  return { certificate: ca, contextFor };
}

const BASIC_CONSTRAINTS = "2.5.29.19";
const KEY_USAGE = "2.5.29.15";
const EXTENDED_USAGE = "2.5.29.37";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const SUBJECT_KEY = "2.5.29.14";
const AUTHORITY_KEY = "2.5.29.35";
const ALTERNATIVE_NAME = "2.5.29.17";
const NAME_CONSTRAINTS = "2.5.29.30";
const ECDSA_SHA256 = "1.2.840.10045.4.3.2";
const COMMON_NAME = "2.5.4.3";

interface CertificateInput {
  readonly issuer: string;
  readonly subject: string;
  readonly key: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly validity: { readonly from: Date; readonly to: Date };
}

function certificate({ issuer, subject, key, signer, extensions, validity }: CertificateInput): string {
  const algorithm = seq(oid(ECDSA_SHA256));
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const body = seq(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    nameOf(issuer),
    seq(time(validity.from), time(validity.to)),
    nameOf(subject),
    key.export({ type: "spki", format: "der" }),
    tlv(0xa3, seq(...extensions)),
  );
  const whole = seq(body, algorithm, tlv(0x03, Buffer.from([0]), sign("sha256", body, signer)));
  const lines = whole.toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** Only these hosts; a name means itself and what lies below it, which nothing here vouches for. */
function constraints(hosts: readonly string[]): Buffer {
  const names = hosts.filter((host) => isIP(host) === 0);
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  const permitted = [
    ...(names.length === 0 ? [NOWHERE] : names).map((host) => seq(tlv(0x82, Buffer.from(host, "latin1")))),
    ...addresses.map((host) => seq(tlv(0x87, addressBytes(host), Buffer.alloc(isIP(host) === 4 ? 4 : 16, 255)))),
  ];
  const excluded = addresses.length > 0 ? [] : [seq(tlv(0x87, Buffer.alloc(8))), seq(tlv(0x87, Buffer.alloc(32)))];
  return seq(tlv(0xa0, ...permitted), ...(excluded.length === 0 ? [] : [tlv(0xa1, ...excluded)]));
}

const NOWHERE = "nowhere.invalid";

const generalName = (host: string): Buffer =>
  isIP(host) === 0 ? tlv(0x82, Buffer.from(host, "latin1")) : tlv(0x87, addressBytes(host));

function addressBytes(host: string): Buffer {
  if (isIP(host) === 4) return Buffer.from(host.split(".").map(Number));
  const [head = "", tail] = host.split("::");
  const groups = (text: string | undefined) => (text === undefined || text === "" ? [] : text.split(":"));
  const [left, right] = [groups(head), groups(tail)];
  const all = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => "0"), ...right];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}

const keyId = (key: KeyObject): Buffer =>
  createHash("sha1")
    .update(key.export({ type: "spki", format: "der" }))
    .digest();

const nameOf = (text: string): Buffer => seq(tlv(0x31, seq(oid(COMMON_NAME), tlv(0x0c, Buffer.from(text)))));
const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  seq(oid(id), ...(critical ? [BOOLEAN_TRUE] : []), tlv(0x04, value));
const BOOLEAN_TRUE = Buffer.from([1, 1, 255]);

/** Two digits of a year before 2050, four after it. */
function time(date: Date): Buffer {
  const text = `${date
    .toISOString()
    .replace(/\.\d+Z$/, "")
    .replace(/[-:T]/g, "")}Z`;
  return date.getUTCFullYear() < 2050 ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text));
}

const integer = (bytes: Buffer): Buffer => tlv(0x02, bytes);
const seq = (...parts: readonly Buffer[]): Buffer => tlv(0x30, ...parts);

function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), body]);
  const size = Buffer.from(
    length > 0xffff ? [length >> 16, length >> 8, length] : length > 0xff ? [length >> 8, length] : [length],
  );
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length]), size, body]);
}

function oid(dotted: string): Buffer {
  const [a = 0, b = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = rest.flatMap((part) => {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return tlv(0x06, Buffer.from([a * 40 + b, ...bytes]));
}
