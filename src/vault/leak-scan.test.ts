import { describe, expect, it } from "vitest";
import { isSecretFileName, KEYWORDS, loadLeakRules } from "./leak-rules.js";
import { leakScanner } from "./leak-scan.js";

const many = (text: string, n: number) => text.repeat(Math.ceil(n / text.length)).slice(0, n);
const mixed = (n: number) => many("aB3dE6gH9jK2", n);
// Put together here, so that no scanner takes this file for a leak.
const SAMPLES: Readonly<Record<string, string>> = {
  aws: `${"AKI"}A${many("Q7RT2WXY", 16)}`,
  privatekey: `-----BEGIN RSA ${"PRIVATE"} KEY-----\nMIIE${mixed(400)}\n-----END RSA ${"PRIVATE"} KEY-----`,
  npm: `${"npm"}_${mixed(36)}`,
  slack: `${"xoxb"}-${many("12345", 12)}-${many("12345", 12)}-${mixed(24)}`,
  sendgrid: `${"SG"}.${mixed(22)}.${mixed(43)}`,
  shopify: `${"shpat"}_${many("0a1b2c3d", 32)}`,
  stripe: `${"sk_live"}_${mixed(24)}`,
  github: `${"ghp"}_${mixed(36)}`,
  gitlab: `${"glpat"}-${mixed(20)}`,
  grafana: `${"glsa"}_${mixed(32)}_${many("0a1b", 8)}`,
  openai: `${"sk"}-${mixed(20)}T3BlbkFJ${mixed(20)}`,
  anthropic: `${"sk-ant"}-api03-${mixed(93)}AA`,
  groq: `${"gsk"}_${mixed(52)}`,
  huggingface: `${"hf"}_${many("aBcDeFgHiJ", 34)}`,
  linear: `${"lin_api"}_${mixed(40)}`,
  notion: `${"ntn"}_${many("0123456789", 11)}${mixed(35)}`,
  "1password": `${"ops"}_${serviceAccount()}`,
  "database-connection-string": `${"postgres"}://app:${"s3cr3tPa55"}@db.internal:5432/app`,
  "hashicorp-vault": `${"hvs"}.${mixed(95)}`,
  vercel: `${"vcp"}_${mixed(24)}`,
  databricks: `${"dapi"}${many("0a1b2c3d", 32)}`,
  docker: `${"dckr_pat"}_${mixed(27)}`,
  figma: `${"figd"}_${mixed(40)}`,
  cloudflare: `${"cfut"}_${mixed(40)}${many("0a1b", 8)}`,
  tailscale: `${"tskey"}-auth-${mixed(16)}-${mixed(32)}`,
  age: `${"AGE-SECRET"}-KEY-1${many("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}`,
  "google-api-key": `${"AI"}za${mixed(35)}`,
};

/** Base64 of JSON that ends in `fQ==`, as the real ones do. */
function serviceAccount(): string {
  const token = (email: string) => ({
    email,
    muk: { k: mixed(43) },
    secretKey: mixed(32),
    srpX: mixed(64),
    signInAddress: "x.example:4000",
    userAuth: { method: "SRPg-4096" },
  });
  const texts = ["a@b.c", "ab@b.c", "abc@b.c"].map((email) =>
    Buffer.from(JSON.stringify(token(email))).toString("base64"),
  );
  return texts.find((text) => text.endsWith("fQ=="))!;
}

describe("leak scan", () => {
  it("reaches every rule by a keyword", async () => {
    const rules = await loadLeakRules();
    expect([...rules.keys()].filter((id) => !KEYWORDS.some(({ rule }) => rule === id))).toEqual([]);
    expect([...new Set(KEYWORDS.map(({ rule }) => rule))].filter((id) => !rules.has(id))).toEqual([]);
    expect(Object.keys(SAMPLES).sort()).toEqual([...rules.keys()].sort());
  });

  it.each(Object.entries(SAMPLES))("finds a %s secret, names its line and does not repeat it", async (rule, sample) => {
    const scanner = await leakScanner();
    const text = `first line\nconst key = "${sample}";\n`;
    const leaks = scanner.scan("src/a.ts", Buffer.from(text));
    expect(leaks.map(({ path, line, rule: id }) => ({ path, line, rule: id }))).toEqual([
      { path: "src/a.ts", line: 2, rule },
    ]);
    expect(JSON.stringify(leaks)).not.toContain(sample.slice(-12));
  });

  it("finds a secret wherever a chunk's end falls", async () => {
    const padding = "x = 1;\n".repeat(4000);
    const bytes = Buffer.from(
      `${padding}token = "${SAMPLES.github}"\n${SAMPLES.privatekey}\n${padding}value-of-the-vault\n`,
    );
    for (const step of [1000, 4096, 12_289, 12_801, 13_000, 27_990, 27_991, 65_536, bytes.length]) {
      const scanner = await leakScanner({ knownValues: [{ name: "db", value: "value-of-the-vault" }] });
      const watcher = scanner.observe("a.txt");
      // Told which chunk is the last or not, and from a buffer that is used again at once, as the packer does.
      for (let at = 0; at < bytes.length; at += step) {
        const chunk = Buffer.from(bytes.subarray(at, at + step));
        watcher.chunk(chunk, step % 2 === 0 && at + step >= bytes.length);
        chunk.fill("-");
      }
      watcher.end();
      expect(
        scanner.leaks().map(({ line, rule }) => [line, rule]),
        `step ${step}`,
      ).toEqual([
        [4001, "github"],
        [4002, "privatekey"],
        [8005, "vault-value"],
      ]);
    }
  });

  it("names the line wherever in memory the text lies", async () => {
    const scanner = await leakScanner({ knownValues: [{ name: "db", value: "value-of-the-vault" }] });
    for (let lines = 0; lines < 10; lines += 1) {
      for (let shift = 0; shift < 8; shift += 1) {
        const text = `${"\n".repeat(lines)}value-of-the-vault`;
        const bytes = Buffer.alloc(shift + text.length).subarray(shift);
        bytes.write(text);
        expect(scanner.scan(`${lines} ${shift}`, bytes)).toMatchObject([{ line: lines + 1 }]);
      }
    }
  });

  it("finds values of the vault as they are, in JSON and in base64, and leaves short ones", async () => {
    const value = 'quite "secret" value';
    const scanner = await leakScanner({
      knownValues: [
        { name: "db", value },
        { name: "short", value: "admin" },
      ],
    });
    for (const text of [value, JSON.stringify(value), Buffer.from(value).toString("base64")]) {
      expect(scanner.scan("x", Buffer.from(text))).toEqual([
        { path: "x", line: 1, rule: "vault-value", masked: 'the value of "db"' },
      ]);
    }
    expect(scanner.scan("x", Buffer.from("admin"))).toEqual([]);
  });

  it("tells of a file that exists to hold secrets, whatever is in it, and of a file's first twenty leaks", async () => {
    const scanner = await leakScanner();
    expect(scanner.scan("deploy/.env", Buffer.from("EMPTY=\n"))).toEqual([
      { path: "deploy/.env", line: null, rule: "secret-file", masked: ".env" },
    ]);
    expect(scanner.scan("many.txt", Buffer.from(`${SAMPLES.github}\n`.repeat(50)))).toHaveLength(20);
  });

  it("knows files that exist to hold secrets", () => {
    const secret = [
      ".env",
      "a/.env.production",
      ".npmrc",
      "ssh/id_rsa",
      "id_ed25519",
      "server.PEM",
      "tls.key",
      "a.p12",
      ".netrc",
    ];
    const harmless = [
      ".env.example",
      "id_rsa.pub",
      "id_map.ts",
      "environment.ts",
      "keys.ts",
      "monkey",
      ".envrc.sample",
      "vault.enc.json",
    ];
    expect(secret.filter((name) => !isSecretFileName(name))).toEqual([]);
    expect(harmless.filter(isSecretFileName)).toEqual([]);
  });

  it("is not silenced by the file it looks at", async () => {
    const scanner = await leakScanner();
    const text = `// secretlint-disable\n"${SAMPLES.github}" // secretlint-disable-line\n`;
    expect(scanner.scan("a.ts", Buffer.from(text))).toHaveLength(1);
  });
});
