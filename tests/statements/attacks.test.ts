// What a liar does with signatures. Nothing of it is accepted.
// Long because: every attack is one row of a table, tried on the same people and the same task.
import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Envelope, NAMESPACE, PAYLOAD_TYPE, type Statement } from "../../src/schema/statement.js";
import {
  believedBy,
  bytesToSign,
  deliveryRefusals,
  deliveryStatement,
  encodeSignature,
  formatEnvelopes,
  independentVerdicts,
  judgeSignatures,
  parseAllowedSigners,
  parseEnvelopes,
  parseRevoked,
  preAuthEncoding,
  requestRefusal,
  requestStatement,
  type Signer,
  type Subject,
  signStatement,
  type Trust,
  verdictStatement,
  wireString,
} from "../../src/statements/index.js";
import { ownKey } from "./keys.js";

const NOW = new Date("2026-03-14T10:00:00Z");
const hash = (letter: string) => `sha256:${letter.repeat(64)}`;
const ID = "nut-00000000-0000-4000-8000-000000000001";
const manifest = { nutshell_version: "0.2.0", bundle_type: "request", id: ID, task: { title: "T" } } as const;

const [alice, bob, carol, mallory] = [ownKey(), ownKey(), ownKey(), ownKey()];
const LIST = `alice@example.org ${alice.line}\nbob@example.org ${bob.line}\ncarol@example.org ${carol.line}\n`;
const trustOf = (text: string = LIST, revoked = ""): Trust => ({
  ...parseAllowedSigners(text),
  revoked: parseRevoked(Buffer.from(revoked), (why) => new Error(why)),
});

const asked: Subject = { digest: hash("a"), kind: "request" };
const made: Subject = { digest: hash("d"), kind: "delivery", request: hash("a"), result: hash("e") };

const request = (digest = hash("a")) => requestStatement({ id: ID, digest }, manifest, NOW);
const delivery = () =>
  deliveryStatement({
    bundle: { id: ID, digest: hash("d") },
    request: { id: ID, digest: hash("a") },
    delivery: { status: "completed", digests: { result: hash("e"), tests: hash("f") } },
    at: NOW,
    facts: null,
  });
const verdict = (more: { digest?: string; request?: string; result?: string; says?: "PASSED" | "FAILED" } = {}) =>
  verdictStatement({
    bundle: { id: ID, digest: more.digest ?? hash("d") },
    request: { id: ID, digest: more.request ?? hash("a") },
    at: NOW,
    platform: "linux-x64",
    result: more.says ?? "PASSED",
    passed: ["AC-1"],
    failed: [],
    acceptance: { passed: 1, failed: 0 },
    hidden: null,
    digests: { result: more.result ?? hash("e"), tests: hash("f") },
  });

const judge = (envelopes: readonly Envelope[], subject: Subject = asked, trust = trustOf(), at = NOW) => {
  const { envelopes: read, rejected } = parseEnvelopes(Buffer.from(formatEnvelopes(envelopes)));
  return judgeSignatures({ envelopes: read, rejected, subject, trust, at });
};
const good = () => signStatement(request(), alice.sign);
const payloadOf = ({ payload }: Envelope) => Buffer.from(payload, "base64").toString();

/** Any bytes as a payload, rightly signed. */
async function signPayload(payload: string | Buffer, signer: Signer, type: string = PAYLOAD_TYPE): Promise<Envelope> {
  const bytes = Buffer.from(payload as string);
  const sig = Buffer.from(await signer(preAuthEncoding(type, bytes))).toString("base64");
  return { payloadType: type as typeof PAYLOAD_TYPE, payload: bytes.toString("base64"), signatures: [{ sig }] };
}

it("an envelope with a key given twice, whichever of the two is right, counts for nothing", async () => {
  const line = JSON.stringify(await good());
  const other = (await signStatement(request(hash("b")), mallory.sign)).payload;
  for (const double of [line.replace("{", `{"payload":"${other}",`), line.replace(/}$/, `,"payload":"${other}"}`)]) {
    const { envelopes, rejected } = parseEnvelopes(Buffer.from(`${double}\n`));
    expect(envelopes).toEqual([]);
    expect(rejected).toHaveLength(1);
  }
});

it("an honest signature is accepted, as itself and among others in any order", async () => {
  const envelope = await good();
  expect(judge([envelope])).toMatchObject([
    { standing: "trusted", kind: "request", principals: ["alice@example.org"], signedOn: NOW.toISOString() },
  ]);
  const second = await signStatement(request(), mallory.sign);
  for (const order of [
    [envelope, second],
    [second, envelope],
  ]) {
    expect(requestRefusal([policy], judge(order))).toBeNull();
  }
});

const policy = { version: 1, requests: { signers: ["alice@example.org"] } } as const;

type Attack = readonly [name: string, make: () => Promise<{ list: Envelope[]; trust?: Trust; at?: Date }>];

const ATTACKS: readonly Attack[] = [
  ["nobody signed", async () => ({ list: [] })],
  ["a key nobody trusts", async () => ({ list: [await signStatement(request(), mallory.sign)] })],
  [
    "a signature of another namespace",
    async () => ({ list: [await signPayload(payloadOf(await good()), aliceFor("git"))] }),
  ],
  ["another digest", async () => ({ list: [await signStatement(request(hash("b")), alice.sign)] })],
  ["the signature stripped", async () => ({ list: [{ ...(await good()), signatures: [] } as unknown as Envelope] })],
  [
    "a signature moved to another payload",
    async () => ({
      list: [
        {
          ...(await signStatement(request(hash("b")), alice.sign)),
          payload: (await good()).payload,
        },
      ],
    }),
  ],
  [
    "the payload's keys reordered",
    async () => {
      const envelope = await good();
      const { _type, ...rest } = JSON.parse(payloadOf(envelope)) as Statement;
      return { list: [{ ...envelope, payload: Buffer.from(JSON.stringify({ ...rest, _type })).toString("base64") }] };
    },
  ],
  [
    "base64 written another way",
    async () => {
      const envelope = await good();
      return { list: [{ ...envelope, payload: `${envelope.payload}\n` }] };
    },
  ],
  [
    "another payload type",
    async () => ({ list: [await signPayload(payloadOf(await good()), alice.sign, "application/json")] }),
  ],
  ["a revoked key", async () => ({ list: [await good()], trust: trustOf(LIST, `${alice.line}\n`) })],
  [
    "an expired key",
    async () => ({
      list: [await good()],
      trust: trustOf(`alice@example.org valid-before="20260301Z" ${alice.line}\n`),
    }),
  ],
  [
    "an expired key with an old date in its statement",
    async () => ({
      list: [await signStatement(requestStatement({ id: ID, digest: hash("a") }, manifest, new Date(0)), alice.sign)],
      trust: trustOf(`alice@example.org valid-before="20260301Z" ${alice.line}\n`),
    }),
  ],
  [
    "a key that is not valid yet",
    async () => ({ list: [await good()], trust: trustOf(`alice@example.org valid-after="20260401Z" ${alice.line}\n`) }),
  ],
  [
    "a key trusted for another namespace",
    async () => ({ list: [await good()], trust: trustOf(`alice@example.org namespaces="git" ${alice.line}\n`) }),
  ],
  [
    "a duplicate key in the payload",
    async () => {
      const text = payloadOf(await good());
      const double = text.replace('"predicateType":', `"subject":[{"name":"${ID}","digest":{}}],"predicateType":`);
      return { list: [await signPayload(double, alice.sign)] };
    },
  ],
  [
    "a second subject",
    async () => {
      const statement = JSON.parse(payloadOf(await good())) as Statement;
      const subject = [...statement.subject, { name: ID, digest: { nutshellContent: "b".repeat(64) } }];
      return { list: [await signPayload(JSON.stringify({ ...statement, subject }), alice.sign)] };
    },
  ],
  [
    "a principal with a wildcard",
    async () => ({
      list: [await signStatement(request(), mallory.sign)],
      trust: trustOf(`*@example.org ${mallory.line}\nal?ce@example.org ${mallory.line}\n`),
    }),
  ],
  [
    "a principal that looks the same",
    async () => ({
      list: [await signStatement(request(), mallory.sign)],
      trust: trustOf(`аlice@example.org ${mallory.line}\nalice@exаmple.org ${mallory.line}\n`),
    }),
  ],
  [
    "a principal in other letters",
    async () => ({
      list: [await signStatement(request(), mallory.sign)],
      trust: trustOf(`Alice@example.org ${mallory.line}\n`),
    }),
  ],
  [
    "a statement of another kind",
    async () => ({ list: [await signStatement(verdict({ digest: hash("a") }), alice.sign)] }),
  ],
  [
    "a huge payload",
    async () => ({
      list: [await signPayload(JSON.stringify({ ...request(), more: "x".repeat(300_000) }), alice.sign)],
    }),
  ],
  ["more signatures than anybody needs", async () => ({ list: Array.from({ length: 65 }, () => GOOD!) })],
  [
    "a payload deeper than any statement",
    async () => ({
      list: [await signPayload(`{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, alice.sign)],
    }),
  ],
  [
    "a key id of somebody else",
    async () => {
      const envelope = await signStatement(request(), mallory.sign);
      const { keyid } = (await good()).signatures[0]!;
      return { list: [{ ...envelope, signatures: [{ ...envelope.signatures[0]!, keyid }] }] };
    },
  ],
];

/** Every way to write a payload so that two readers could read two statements, rightly signed by alice. */
const DOUBTFUL: readonly (readonly [string, (text: string) => string | Buffer])[] = [
  ["a duplicate key written another way", (text) => text.replace("{", '{"\\u0073ubject":[],')],
  [
    "a duplicate key deep inside",
    (text) => text.replace('"nutshellContent":', `"nutshellContent":"${"b".repeat(64)}","nutshellContent":`),
  ],
  ["a key that changes every object", (text) => text.replace("{", '{"__proto__":{"subject":[]},')],
  ["two documents", (text) => `${text}${text}`],
  ["text after its end", (text) => `${text}//`],
  ["a byte-order mark", (text) => `\ufeff${text}`],
  ["UTF-16", (text) => Buffer.from(`\ufeff${text}`, "utf16le")],
  ["bytes that are no text", (text) => Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0x7d])])],
  ["a digest in capital letters", (text) => text.replaceAll("a".repeat(64), "A".repeat(64))],
  ["a digest with a space", (text) => text.replaceAll("a".repeat(64), `${"a".repeat(64)} `)],
  ["another type of statement", (text) => text.replace("Statement/v1", "Statement/v2")],
  ["a predicate nobody knows", (text) => text.replace("request:1", "request:2")],
  ["no subject", (text) => text.replace(/"subject":\[[^\]]*\]/, '"subject":[]')],
];

/** What lies in an envelope around alice's good signature, and is not what she signed. */
const AROUND: readonly (readonly [string, (good: Envelope) => unknown])[] = [
  ["a type with a space at its end", (good) => ({ ...good, payloadType: `${PAYLOAD_TYPE} ` })],
  ["a type in capital letters", (good) => ({ ...good, payloadType: PAYLOAD_TYPE.toUpperCase() })],
  ["a payload as an object", (good) => ({ ...good, payload: JSON.parse(payloadOf(good)) })],
  ["a payload in base64url", (good) => ({ ...good, payload: `${good.payload.replace(/=+$/, "")}-_` })],
  ["a payload with padding it does not need", (good) => ({ ...good, payload: `${good.payload}=` })],
  ["a signature with a byte more", (good) => withSig(good, (sig) => Buffer.concat([sig, Buffer.from([0])]))],
  ["a signature with a byte less", (good) => withSig(good, (sig) => sig.subarray(0, -1))],
  ["its signature given as text", (good) => ({ ...good, signatures: good.signatures[0]!.sig })],
  ["seventeen signatures", (good) => ({ ...good, signatures: Array.from({ length: 17 }, () => good.signatures[0]) })],
];

function withSig(envelope: Envelope, change: (sig: Buffer) => Buffer): Envelope {
  const sig = change(Buffer.from(envelope.signatures[0]!.sig, "base64")).toString("base64");
  return { ...envelope, signatures: [{ sig }] };
}

let GOOD: Envelope | undefined;

/** Alice's own key, signing for another purpose. */
const pair = generateKeyPairSync("ed25519");
function aliceFor(namespace: string): Signer {
  const raw = Buffer.from(pair.publicKey.export({ format: "jwk" }).x!, "base64url");
  const blob = Buffer.concat([wireString("ssh-ed25519"), wireString(raw)]);
  return async (message) => {
    const inner = sign(null, bytesToSign(message, namespace), pair.privateKey);
    return encodeSignature(blob, namespace, Buffer.concat([wireString("ssh-ed25519"), wireString(inner)]));
  };
}
const pairLine = `ssh-ed25519 ${Buffer.concat([
  wireString("ssh-ed25519"),
  wireString(Buffer.from(pair.publicKey.export({ format: "jwk" }).x!, "base64url")),
]).toString("base64")}`;

describe("not accepted as a request of alice's:", () => {
  it.each(ATTACKS)("%s", async (_name, make) => {
    GOOD = await good();
    const { list, trust = trustOf(`${LIST}alice@example.org ${pairLine}\n`), at = NOW } = await make();
    const vouchers = judge(list, asked, trust, at);
    expect(requestRefusal([policy], vouchers)).toBe("only requests signed by alice@example.org may be run here");
    expect(
      vouchers.some(({ principals, kind }) => kind === "request" && principals.includes("alice@example.org")),
    ).toBe(false);
  });

  it.each(DOUBTFUL)("a payload with %s, signed by her", async (_name, change) => {
    const payload = change(payloadOf(await good()));
    expect(payload.toString()).not.toBe(payloadOf(await good()));
    const vouchers = judge([await signPayload(payload, alice.sign)]);
    expect(vouchers).toMatchObject([{ standing: "invalid" }]);
    expect(requestRefusal([policy], vouchers)).not.toBeNull();
  });

  it.each(AROUND)("an envelope with %s", async (_name, change) => {
    const vouchers = judge([change(await good()) as Envelope]);
    expect(vouchers).toMatchObject([{ standing: "invalid" }]);
  });

  it("her signature beside mallory's, of which hers is about something else", async () => {
    const envelope = await signStatement(request(), mallory.sign);
    const other = await signStatement(request(hash("b")), alice.sign);
    for (const signatures of [
      [envelope.signatures[0]!, other.signatures[0]!],
      [other.signatures[0]!, envelope.signatures[0]!],
    ]) {
      const vouchers = judge([{ ...envelope, signatures }]);
      expect(vouchers.map(({ standing }) => standing).sort()).toEqual(["invalid", "unknown"]);
      expect(requestRefusal([policy], vouchers)).not.toBeNull();
    }
  });

  it("and with a bad signature beside it a good one stays good", async () => {
    const envelope = await good();
    const bad = { sig: Buffer.from("nothing").toString("base64") };
    const vouchers = judge([{ ...envelope, signatures: [bad, envelope.signatures[0]!] }]);
    expect(vouchers).toMatchObject([{ standing: "invalid" }, { standing: "trusted" }]);
  });

  it.each([
    "\uff41lice@example.org",
    "alice@example.org\u200b",
    "alice@example.org.",
    "ALICE@EXAMPLE.ORG",
    "alice@example.org issuer=https://accounts.example.org",
    "alice",
  ])("whoever a policy means by %j", async (name) => {
    const other = { version: 1, requests: { signers: [name] } } as const;
    expect(requestRefusal([other], judge([await good()]))).not.toBeNull();
  });

  it("the control: the same key in our namespace is", async () => {
    const list = [await signPayload(payloadOf(await good()), aliceFor(NAMESPACE))];
    expect(requestRefusal([policy], judge(list, asked, trustOf(`alice@example.org ${pairLine}\n`)))).toBeNull();
  });
});

const two = { version: 1, verdicts: { count: 2 } } as const;

describe("independent verdicts", () => {
  const count = async (statements: readonly (readonly [Statement, { sign: Signer }])[], list = LIST) => {
    const envelopes = await Promise.all(statements.map(([statement, key]) => signStatement(statement, key.sign)));
    const vouchers = judge(envelopes, made, trustOf(list));
    return { vouchers, found: independentVerdicts(vouchers, null) };
  };

  it("are counted when two others checked it, in any order", async () => {
    const all = [
      [delivery(), alice],
      [verdict(), bob],
      [verdict(), carol],
    ] as const;
    for (const order of [all, [...all].reverse()]) {
      const { vouchers, found } = await count(order);
      expect(found).toEqual(["bob@example.org", "carol@example.org"]);
      expect(deliveryRefusals([two], vouchers)).toEqual([]);
      expect(believedBy([two], vouchers)).toBe("bob@example.org, carol@example.org");
    }
  });

  it.each<readonly [string, () => ReturnType<typeof count>]>([
    [
      "by the same person twice",
      () =>
        count([
          [verdict(), bob],
          [verdict(), bob],
        ]),
    ],
    [
      "by one person with two keys",
      () =>
        count(
          [
            [verdict(), bob],
            [verdict(), mallory],
          ],
          `${LIST}bob@example.org ${mallory.line}\n`,
        ),
    ],
    [
      "by one key with two names",
      () =>
        count(
          [
            [verdict(), bob],
            [verdict(), bob],
          ],
          `${LIST}robert@example.org ${bob.line}\n`,
        ),
    ],
    [
      "by whoever made it",
      () =>
        count([
          [delivery(), alice],
          [verdict(), alice],
          [verdict(), bob],
        ]),
    ],
    [
      "about another rerun",
      () =>
        count([
          [verdict({ result: hash("0") }), carol],
          [verdict(), bob],
        ]),
    ],
    [
      "about another request",
      () =>
        count([
          [verdict({ request: hash("0") }), carol],
          [verdict(), bob],
        ]),
    ],
    [
      "about another delivery",
      () =>
        count([
          [verdict({ digest: hash("0") }), carol],
          [verdict(), bob],
        ]),
    ],
    [
      "that say no",
      () =>
        count([
          [verdict({ says: "FAILED" }), carol],
          [verdict(), bob],
        ]),
    ],
    [
      "by a stranger",
      () =>
        count([
          [verdict(), mallory],
          [verdict(), bob],
        ]),
    ],
  ])("are not counted %s", async (_name, make) => {
    const { vouchers, found } = await make();
    expect(found).toEqual(["bob@example.org"]);
    expect(deliveryRefusals([two], vouchers)).toEqual([
      "2 independent verdicts that it passed are needed, and there are 1",
    ]);
  });

  it("do not outweigh somebody trusted who says no", async () => {
    const { vouchers } = await count([
      [verdict(), bob],
      [verdict(), carol],
      [verdict({ says: "FAILED" }), alice],
    ]);
    expect(believedBy([two], vouchers)).toBeNull();
  });

  it("that say no are heard of a delivery that lies about its result", async () => {
    const { vouchers } = await count([
      [verdict(), bob],
      [verdict(), carol],
      [verdict({ says: "FAILED", result: hash("0") }), alice],
    ]);
    expect(vouchers.map(({ standing }) => standing)).toEqual(["trusted", "trusted", "trusted"]);
    expect(believedBy([two], vouchers)).toBeNull();
  });
});
