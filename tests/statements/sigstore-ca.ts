// A Sigstore of our own: a certificate authority and a log whose keys live in this process, and bundles as its tools write them.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { PAYLOAD_TYPE } from "../../src/schema/statement.js";
import { preAuthEncoding } from "../../src/statements/index.js";

const sha256 = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const spki = (key: KeyObject) => key.export({ type: "spki", format: "der" });
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

// DER, as little of it as a certificate needs.
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length: size } = content;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
function oid(text: string): Buffer {
  const [first, second, ...rest] = text.split(".").map(Number) as [number, number, ...number[]];
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 127];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 127) | 128);
    bytes.push(...digits);
  }
  return der(6, Buffer.from(bytes));
}
const utf8 = (text: string) => der(0x0c, Buffer.from(text));
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, "")}`));
const nameOf = (text: string) => sequence(der(0x31, sequence(oid("2.5.4.3"), utf8(text))));
const extension = (id: string, value: Uint8Array, critical = false) =>
  sequence(oid(id), ...(critical ? [der(1, Buffer.from([255]))] : []), der(4, value));
const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  readonly key: KeyObject;
  readonly signer: KeyObject;
  readonly from: Date;
  readonly to: Date;
  readonly extensions: readonly Uint8Array[];
}

function certificate({ subject, issuer, key, signer, from, to, extensions }: CertificateFacts): Buffer {
  const content = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    der(2, Buffer.from([1, ...sha256(spki(key)).subarray(0, 8)])),
    ECDSA_SHA256,
    nameOf(issuer),
    sequence(time(from), time(to)),
    nameOf(subject),
    spki(key),
    der(0xa3, sequence(...extensions)),
  );
  return sequence(content, ECDSA_SHA256, der(3, Buffer.from([0]), sign("sha256", content, signer)));
}

export interface SigstoreOptions {
  readonly statement: object;
  readonly who: string;
  readonly issuer: string;
  /** When the log took the entry. */
  readonly at: Date;
  /** How long the certificate lived, from five minutes before `at` unless told. */
  readonly valid?: readonly [Date, Date];
  readonly payloadType?: string;
  /** Changes the bundle after everything was signed. */
  readonly change?: (bundle: Bundle) => void;
}

// biome-ignore lint/suspicious/noExplicitAny: tests change bundles in ways no type allows.
export type Bundle = any;

export class OwnSigstore {
  private readonly authority = pair();
  private readonly log = pair();
  private readonly start = new Date("2020-01-01T00:00:00Z");
  private readonly end = new Date("2040-01-01T00:00:00Z");
  private readonly rootCertificate = certificate({
    subject: "root",
    issuer: "root",
    key: this.authority.publicKey,
    signer: this.authority.privateKey,
    from: this.start,
    to: this.end,
    extensions: [
      extension("2.5.29.19", sequence(der(1, Buffer.from([255]))), true),
      extension("2.5.29.15", der(3, Buffer.from([1, 6])), true),
    ],
  });

  /** trusted_root.json. */
  root(more: object = {}): string {
    const validFor = { start: this.start.toISOString() };
    return JSON.stringify({
      mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
      tlogs: [this.logFacts],
      certificateAuthorities: [
        {
          subject: { organization: "test", commonName: "root" },
          uri: "https://fulcio.example.org",
          certChain: { certificates: [{ rawBytes: base64(this.rootCertificate) }] },
          validFor,
        },
      ],
      ctlogs: [],
      timestampAuthorities: [],
      ...more,
    });
  }

  get logFacts(): object {
    const rawBytes = base64(spki(this.log.publicKey));
    const validFor = { start: this.start.toISOString() };
    return {
      baseUrl: "https://rekor.example.org",
      hashAlgorithm: "SHA2_256",
      publicKey: { rawBytes, keyDetails: "PKIX_ECDSA_P256_SHA_256", validFor },
      logId: { keyId: base64(this.logId) },
    };
  }

  private get logId(): Buffer {
    return sha256(spki(this.log.publicKey));
  }

  /** A v0.3 bundle as one line. */
  bundle({ statement, who, issuer, at, valid, payloadType = PAYLOAD_TYPE, change }: SigstoreOptions): string {
    const signer = pair();
    const [from, to] = valid ?? [new Date(at.getTime() - 300_000), new Date(at.getTime() + 300_000)];
    const named = who.includes("://") ? der(0x86, Buffer.from(who)) : der(0x81, Buffer.from(who));
    const leaf = certificate({
      subject: "",
      issuer: "root",
      key: signer.publicKey,
      signer: this.authority.privateKey,
      from,
      to,
      extensions: [extension("2.5.29.17", sequence(named), true), extension("1.3.6.1.4.1.57264.1.8", utf8(issuer))],
    });
    const payload = Buffer.from(JSON.stringify(statement));
    const signature = sign("sha256", preAuthEncoding(payloadType, payload), signer.privateKey);
    const bundle = {
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: {
        certificate: { rawBytes: base64(leaf) },
        tlogEntries: [this.entry(payload, signature, leaf, at)],
        timestampVerificationData: { rfc3161Timestamps: [] },
      },
      dsseEnvelope: { payload: base64(payload), payloadType, signatures: [{ sig: base64(signature), keyid: "" }] },
    };
    change?.(bundle);
    return JSON.stringify(bundle);
  }

  /** The first of two leaves, promised and proven. */
  private entry(payload: Buffer, signature: Buffer, leaf: Buffer, at: Date): object {
    const body = Buffer.from(
      JSON.stringify({
        apiVersion: "0.0.1",
        kind: "dsse",
        spec: {
          payloadHash: { algorithm: "sha256", value: sha256(payload).toString("hex") },
          signatures: [{ signature: base64(signature), verifier: base64(leaf) }],
        },
      }),
    );
    const integratedTime = Math.floor(at.getTime() / 1_000);
    const promised = { body: base64(body), integratedTime, logID: this.logId.toString("hex"), logIndex: 0 };
    const other = sha256(Buffer.from([0]), Buffer.from("another entry"));
    const rootHash = sha256(Buffer.from([1]), sha256(Buffer.from([0]), body), other);
    const note = `rekor.example.org - 1\n2\n${base64(rootHash)}\n`;
    const noteSignature = Buffer.concat([
      this.logId.subarray(0, 4),
      sign("sha256", Buffer.from(note), this.log.privateKey),
    ]);
    return {
      logIndex: "0",
      logId: { keyId: base64(this.logId) },
      kindVersion: { kind: "dsse", version: "0.0.1" },
      integratedTime: String(integratedTime),
      inclusionPromise: {
        signedEntryTimestamp: base64(sign("sha256", Buffer.from(JSON.stringify(promised)), this.log.privateKey)),
      },
      inclusionProof: {
        logIndex: "0",
        rootHash: base64(rootHash),
        treeSize: "2",
        hashes: [base64(other)],
        checkpoint: { envelope: `${note}\n— rekor.example.org ${base64(noteSignature)}\n` },
      },
      canonicalizedBody: base64(body),
    };
  }
}
