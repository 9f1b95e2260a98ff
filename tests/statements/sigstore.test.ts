// Sigstore bundles, by a trust root that is given as a file. The authority and the log are this test's own.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { packFolder } from "../../src/bundle/index.js";
import { Desk, NOW } from "../vault/run.js";
import { type Bundle, OwnSigstore, type SigstoreOptions } from "./sigstore-ca.js";

const WHO = "https://github.com/org/repo/.github/workflows/build.yml@refs/heads/main";
const ISSUER = "https://token.actions.example.org";
const NAMED = ["--require", `signer=${WHO} issuer=${ISSUER}`];
const sigstore = new OwnSigstore();
const stranger = new OwnSigstore();

let desk: Desk;
let made: Buffer;
let statement: object;
const done = () => desk.path("done.nut");
const root = () => desk.path("trusted_root.json");

beforeAll(async () => {
  desk = new Desk();
  const folder = desk.folder(desk.path("delivery"), {
    bundle_type: "delivery",
    id: "nut-00000000-0000-4000-8000-000000000002",
    request_id: "nut-00000000-0000-4000-8000-000000000001",
  });
  mkdirSync(join(folder, "delivery"));
  const digests = { request: `sha256:${"a".repeat(64)}`, result: `sha256:${"e".repeat(64)}` };
  writeFileSync(join(folder, "delivery/result.json"), JSON.stringify({ status: "completed", digests }));
  await packFolder(folder, { output: done() });
  made = readFileSync(done());
  statement = JSON.parse((await desk.run(["statement", done()])).out);
});
afterAll(() => desk.remove());
beforeEach(() => {
  writeFileSync(done(), made);
  writeFileSync(root(), sigstore.root());
});

const bundle = (more: Partial<SigstoreOptions> = {}, by = sigstore) =>
  by.bundle({ statement, who: WHO, issuer: ISSUER, at: NOW, ...more });

async function attach(text: string): Promise<void> {
  writeFileSync(desk.path("bundle.json"), text);
  const { code, err } = await desk.run(["attach", done(), desk.path("bundle.json")]);
  expect(code, err).toBe(0);
}
async function verify(...argv: string[]) {
  const { out, err } = await desk.run(["verify", done(), ...argv, "--json"]);
  expect(err).toBe("");
  const { signatures, findings } = JSON.parse(out);
  const isRefused = findings.some(({ code }: { code: string }) => code === "SIGNER_REQUIRED");
  return { signatures, isRefused };
}
const judged = (...argv: string[]) => verify("--sigstore-root", root(), ...argv);

describe("a Sigstore bundle", () => {
  it("is believed of who is named with who vouches for them, years after its certificate ended", async () => {
    await attach(JSON.stringify(JSON.parse(bundle({ at: new Date("2021-05-05T05:05:05Z") })), null, 2));
    const { signatures, isRefused } = await judged(...NAMED);
    expect(signatures).toMatchObject([
      {
        standing: "trusted",
        says: "delivery",
        principals: [`${WHO} issuer=${ISSUER}`],
        key: `sigstore:${WHO},issuer=${ISSUER}`,
      },
    ]);
    expect(isRefused).toBe(false);
  });

  it("is looked at by the program as it is built, which loads the library by its own names", async () => {
    await attach(bundle());
    const program = fileURLToPath(new URL("../../bin/nutshell.js", import.meta.url));
    const argv = [program, "verify", done(), "--sigstore-root", root(), ...NAMED, "--json"];
    const { stdout, stderr } = spawnSync(process.execPath, argv, { env: desk.env, encoding: "utf8" });
    expect(stderr).toBe("");
    expect(JSON.parse(stdout).signatures).toMatchObject([{ standing: "trusted" }]);
  });

  it("is not looked at without a root, and is nobody's word unless somebody named them", async () => {
    await attach(bundle());
    const text = (await desk.run(["verify", done()])).out;
    expect(text).toContain("? a Sigstore bundle that was not looked at: nutshell verify --sigstore-root");
    expect(await verify(...NAMED)).toMatchObject({
      isRefused: true,
      signatures: [{ standing: "unknown", says: null }],
    });
    expect((await judged()).signatures).toMatchObject([
      {
        standing: "unknown",
        principals: [],
        why: `${ISSUER} says it was ${WHO}, whom neither --require nor your policy names`,
      },
    ]);
    const shown = (await desk.run(["log", done()])).out;
    expect(shown).toContain("? made     nobody signed the delivery");
    expect(shown).toContain("a Sigstore bundle that was not looked at");
  });

  it("travels beside other signatures, which stay when one is added", async () => {
    await attach(bundle());
    await desk.run(["keygen", "--peer", "-o", desk.path("bob.key")]);
    await desk.run(["sign", done(), "--key", desk.path("bob.key")]);
    expect((await judged(...NAMED)).signatures).toHaveLength(2);
  });

  it("counts by a policy of one's own that names it, and by none that stands for everybody", async () => {
    await attach(bundle());
    const policy = (name: string) => {
      writeFileSync(desk.path("policy.yml"), `version: 1\ndeliveries:\n  signers: ["${name}"]\n`);
      return judged("--policy", desk.path("policy.yml"));
    };
    expect((await policy(`https://github.com/org/* issuer=${ISSUER}`)).signatures).toMatchObject([
      { standing: "trusted" },
    ]);
    for (const name of ["*", "https://*", WHO, `${WHO} issuer=*`, `* issuer=https://other.example.org`]) {
      expect((await policy(name)).signatures, name).toMatchObject([{ standing: "unknown" }]);
    }
  });
});

type Liar = readonly [name: string, text: () => string, why: RegExp];
const LIARS: readonly Liar[] = [
  [
    "about other content",
    () => {
      const other = JSON.parse(JSON.stringify(statement));
      other.subject[0].digest.nutshellContent = "0".repeat(64);
      return bundle({ statement: other });
    },
    /it is about other content/,
  ],
  [
    "whose certificate had ended",
    () => bundle({ valid: [new Date("2026-01-01"), new Date("2026-01-02")] }),
    /certificate/i,
  ],
  [
    "whose certificate had not begun",
    () => bundle({ valid: [new Date("2026-06-01"), new Date("2026-06-02")] }),
    /certificate/i,
  ],
  ["of another authority and log", () => bundle({}, stranger), /does not hold/],
  [
    "entered in another log",
    () => {
      const entries = JSON.parse(bundle({}, stranger)).verificationMaterial.tlogEntries;
      return bundle({ change: (one: Bundle) => Object.assign(one.verificationMaterial, { tlogEntries: entries }) });
    },
    /does not hold/,
  ],
  [
    "entered nowhere",
    () => bundle({ change: (one: Bundle) => Object.assign(one.verificationMaterial, { tlogEntries: [] }) }),
    /does not hold/,
  ],
  [
    "without a proof",
    () => bundle({ change: (one: Bundle) => delete one.verificationMaterial.tlogEntries[0].inclusionProof }),
    /does not hold/,
  ],
  [
    "with a proof of another entry",
    () =>
      bundle({
        change: (one: Bundle) => {
          one.verificationMaterial.tlogEntries[0].inclusionProof.hashes = [Buffer.alloc(32).toString("base64")];
        },
      }),
    /does not hold/,
  ],
  [
    "whose time was changed after the log promised it",
    () =>
      bundle({
        change: (one: Bundle) => {
          one.verificationMaterial.tlogEntries[0].integratedTime = String(NOW.getTime() / 1_000 - 60);
        },
      }),
    /does not hold/,
  ],
  [
    "with nobody's time",
    () => bundle({ change: (one: Bundle) => delete one.verificationMaterial.tlogEntries[0].inclusionPromise }),
    /does not hold \(expected 1 timestamps/,
  ],
  [
    "whose payload was changed",
    () =>
      bundle({
        change: (one: Bundle) => {
          const payload = { ...statement, more: 1 };
          one.dsseEnvelope.payload = Buffer.from(JSON.stringify(payload)).toString("base64");
        },
      }),
    /does not hold/,
  ],
  [
    "of another type of payload",
    () => bundle({ payloadType: "application/json" }),
    /holds no statement with one signature/,
  ],
  [
    "with a plain key in place of a certificate",
    () =>
      bundle({
        change: (one: Bundle) => {
          delete one.verificationMaterial.certificate;
          one.verificationMaterial.publicKey = { hint: "x" };
        },
      }),
    /does not hold/,
  ],
  ["with what is no statement", () => bundle({ statement: { hello: "world" } }), /not a statement we know/],
  [
    "of somebody with another's issuer in the name",
    () => bundle({ who: `${WHO} issuer=${ISSUER}`, issuer: "https://evil.example.org" }),
    /does not say who signed/,
  ],
];

describe("is not believed:", () => {
  it.each(LIARS)("a bundle %s", async (_name, text, why) => {
    await attach(text());
    const { signatures, isRefused } = await judged(...NAMED);
    expect(isRefused).toBe(true);
    expect(signatures).toMatchObject([{ standing: "invalid", principals: [], why: expect.stringMatching(why) }]);
  });

  it("another identity, or the same by another's word", async () => {
    await attach(bundle({ who: "https://github.com/evil/repo/.github/workflows/build.yml@refs/heads/main" }));
    await attach(bundle({ issuer: "https://evil.example.org" }));
    const { signatures, isRefused } = await judged(...NAMED);
    expect(isRefused).toBe(true);
    expect(signatures).toMatchObject([{ standing: "unknown" }, { standing: "unknown" }]);
  });

  it("a certificate no log of certificates saw, where the root names one", async () => {
    await attach(bundle());
    writeFileSync(root(), sigstore.root({ ctlogs: [sigstore.logFacts] }));
    const { signatures } = await judged(...NAMED);
    expect(signatures).toMatchObject([{ standing: "invalid", why: expect.stringContaining("expected 1 SCTs, got 0") }]);
  });
});

it.each([
  ["not JSON", "nonsense"],
  ["empty", "{}"],
  ["without an authority", () => sigstore.root({ certificateAuthorities: [] })],
  ["with an authority of noise", () => sigstore.root().replace(/"rawBytes":"MII[^"]*"/, '"rawBytes":"AAAA"')],
])("a root that is %s is refused", async (_name, text) => {
  writeFileSync(root(), typeof text === "string" ? text : text());
  const { code, err } = await desk.run(["verify", done(), "--sigstore-root", root(), "--json"]);
  expect(code).toBe(2);
  expect(err).toContain("TRUST_INVALID");
});

it("attach refuses what is no signature, and adds nothing of it", async () => {
  for (const text of ["", "{}\n", "nonsense", `${bundle()}\n{"payloadType":1}\n`]) {
    writeFileSync(desk.path("bundle.json"), text);
    const { code, err } = await desk.run(["attach", done(), desk.path("bundle.json"), "--json"]);
    expect(code, text.slice(0, 20)).toBe(2);
    expect(err).toContain("SIGNATURE_UNFIT");
  }
  expect(readFileSync(done()).equals(made)).toBe(true);
});
