import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assignments } from "./assigned-secrets.js";
import { isSecretFileName, KEYWORDS, loadLeakRules } from "./leak-rules.js";
import { leakScanner } from "./leak-scan.js";
import { OWN_FORMATS } from "./own-leak-rules.js";

const many = (text: string, n: number) => text.repeat(Math.ceil(n / text.length)).slice(0, n);
const mixed = (n: number) => many("aB3dE6gH9jK2", n);
// Put together here, so that no scanner takes this file for a leak.
const UUID = "0a1b2c3d-4e5f-4a1b-8c2d-0a1b2c3d4e5f";
const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
const SAMPLES: Record<string, string> = {
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
  "putty-key": `PuTTY-User-${"Key"}-File-2: ssh-rsa`,
  "azure-storage": `AccountName=a;${"Account"}Key=${mixed(86)}==`,
  "azure-shared-access": `${"Shared"}AccessKey=${mixed(43)}=`,
  "azure-signature": `https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&${"si"}g=${mixed(43)}%3D`,
  "azure-client-secret": `abc${"8Q"}~${mixed(34)}`,
  telegram: `123456789:${"A"}A${mixed(33)}`,
  "discord-webhook": `https://discord.com/${"api"}/webhooks/${many("1234567890", 18)}/${mixed(68)}`,
  "slack-hook": `https://hooks.${"slack"}.com/workflows/T${many("1A2B", 10)}/A${many("1A2B", 10)}/${mixed(24)}`,
  "teams-hook": `https://x.${"webhook"}.office.com/webhookb2/${UUID}@${UUID}/IncomingWebhook/${mixed(32)}`,
  "zapier-hook": `https://hooks.${"zapier"}.com/hooks/catch/1234567/abc1234`,
  "google-refresh": `${"1/"}/0${mixed(60)}`,
  twilio: `${"S"}K${many("0a1b2c3d", 32)}`,
  mailgun: `${"ke"}y-${many("0a1b2c3d", 32)}`,
  mailchimp: `${many("0a1b2c3d", 32)}-${"us"}12`,
  "terraform-cloud": `${mixed(14)}.${"atlas"}v1.${mixed(64)}`,
  clickup: `${"p"}k_1234567_${many("A1B2", 32)}`,
  jwt: [
    { alg: "HS256", typ: "JWT" },
    { sub: "someone", admin: true },
  ]
    .map(encoded)
    .join(".")
    .concat(".", mixed(43)),
  "broker-url": `${"amqps"}://app:Zk4${mixed(12)}@mq.internal:5671/v`,
  "assigned-token": `${"COHERE"}_API_KEY=${mixed(40)}`,
  "assigned-secret": `${"SIGNING"}_KEY=${mixed(40)}`,
  "azure-devops": `${many("aB3dE6gH9jK2", 76)}${"AZ"}DO1a2B`,
  "cloudflare-origin": `${"v1"}.0-${many("0a1b2c3d", 24)}-${many("0a1b2c3d", 146)}`,
  braintree: `${"access"}_token$production$${many("a1b2", 16)}$${many("0a1b2c3d", 32)}`,
  "new-relic-license": `${many("0a1b2c3d", 36)}${"NR"}AL`,
  "discord-bot": `${Buffer.from("123456789012345678").toString("base64url")}.${mixed(6)}.${mixed(38)}`,
  facebook: `${"EA"}A${mixed(120)}`,
  twitter: `${"A".repeat(22)}${mixed(40)}${"%3"}D${mixed(40)}`,
  launchdarkly: `${"sd"}k-${UUID}`,
  salesforce: `00D${mixed(12)}${"!A"}Q${mixed(90)}`,
  "kafka-login": `PlainLoginModule required username=\\"a\\" ${"pass"}word=\\"${mixed(20)}\\"`,
  netrc: `machine api.internal login app ${"pass"}word ${mixed(20)}`,
  "basic-header": `Authorization: ${"Bas"}ic ${Buffer.from(`app:${mixed(16)}`).toString("base64")}`,
  "privatekey-in-base64": Buffer.from(`-----BEGIN RSA ${"PRIVATE"} KEY-----\n${mixed(200)}`).toString("base64"),
  wireguard: `${"Private"}Key = ${many("aB3dE6gH9jK2", 42)}A=`,
  "url-password": `https://${"deploy"}:${mixed(20)}@git.internal/a.git`,
  "rpc-url": `https://mainnet.${"infura"}.io/v3/${many("0a1b2c3d", 32)}`,
  resend: `${"re"}_${mixed(8)}_${mixed(24)}`,
  mollie: `${"live"}_${mixed(30)}`,
  asana: `1/${many("1234567890", 16)}:${many("0a1b2c3d", 32)}`,
  unleash: `*:${"production"}.${many("0a1b2c3d", 56)}`,
  "azure-key": `${mixed(86)}==`,
  authorization: `Authorization: ${"SS"}WS ${mixed(42)}`,
  "jdbc-password": `${"jdbc"}:postgresql://db.internal/app?user=app&${"pass"}word=${mixed(12)}`,
  "oracle-url": `${"jdbc"}:oracle:thin:app/${mixed(12)}@//db.internal:1521/x`,
  "curl-user": `curl --${"user"} app:${mixed(20)}`,
  "command-line-key": `login --${"api"}key ${mixed(40)}`,
  airtable: `${"pa"}t${mixed(14)}.${many("0a1b2c3d", 64)}`,
  laravel: `${"APP"}_KEY=base64:${mixed(43)}=`,
  "go-dsn": `app:${mixed(16)}@${"tc"}p(db.internal:3306)/x`,
  "command-line-password": `${"sshpa"}ss -p ${mixed(16)} ssh a@b`,
  "npm-registry": `//registry.internal/:_${"auth"}=${mixed(40)}`,
};
/** Rules that look at more than what stands between two quotes. */
const IN_CONTEXT: Readonly<Record<string, string>> = {
  "npmrc-auth": `${"_au"}th=${mixed(40)}`,
  "assigned-password": `db_${"pass"}word = "Zk#4t+9mU!-f2wQo"`,
  "twilio-pair": `Client("${"A"}C${many("0a1b2c3d", 32)}", "${many("3d0a1b2c", 32)}")`,
  django: `${"SECRET"}_KEY = "${many("a1(b2=c3&", 50)}"`,
  "wallet-key": `${"private"}Key: "0x${many("0a1b2c3d4e5f", 64)}"`,
  "docker-login": `{"${"auths"}": {"registry.example": {"auth": "${mixed(32)}"}}}`,
};
/** The other formats are a prefix and a body: a body of whichever letters the format takes. */
for (const { id, find, keywords } of OWN_FORMATS) {
  if (id in SAMPLES || id in IN_CONTEXT) continue;
  const [prefix, tail] = keywords[0]!;
  const bodies = ["0a1b2c3d4e5f", "A1B2C3D4E5F6", "aB3dE6gH9jK2"].map(
    (letters) => `${prefix}${many(letters, Number(tail))}`,
  );
  SAMPLES[id] = bodies.find((sample) => find(sample).length > 0)!;
}

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
    expect(Object.keys({ ...SAMPLES, ...IN_CONTEXT }).sort()).toEqual([...rules.keys()].sort());
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

  it.each(["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "])("finds a %sprivate key", async (kind) => {
    const block = kind === "PGP " ? " BLOCK" : "";
    const [begin, end] = ["BEGIN", "END"].map((word) => `-----${word} ${kind}${"PRIVATE"} KEY${block}-----`);
    const head = kind === "PGP " ? "Version: X 1\n\n" : "";
    for (const text of [`${begin}\n${head}${mixed(64)}\n${end}\n`, `"${begin}\\n${mixed(64)}\\n${end}\\n"`]) {
      expect((await leakScanner()).scan("a", Buffer.from(text))).toMatchObject([{ line: 1, rule: "privatekey" }]);
    }
  });

  it("finds what only its surroundings give away", async () => {
    for (const [rule, text] of Object.entries(IN_CONTEXT)) {
      expect((await leakScanner()).scan("a.json", Buffer.from(text))).toMatchObject([{ line: 1, rule }]);
    }
  });

  it("leaves placeholders and specimens alone", async () => {
    const specimen = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0";
    const texts = [
      "amqp://guest:guest@localhost:5672/ redis://user:password@cache:6379 redis://:$REDIS_PASSWORD@host:1",
      "amqps://app:<password>@mq.internal/ kafka://a:changeme123@b.example",
      "DATADOG_API_KEY=your-datadog-api-key-goes-here TWILIO_AUTH_TOKEN=process.env.TWILIO_AUTH_TOKEN",
      "cloudflare_api_token = var.cloudflare_api_token_for_zone",
      `${specimen}.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c`,
      "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    ];
    for (const text of texts) expect((await leakScanner()).scan("a.txt", Buffer.from(text)), text).toEqual([]);
  });

  it("warns of what only a general name gives away, and only if it was drawn", async () => {
    const drawn = mixed(32);
    const severities = async (text: string) =>
      (await leakScanner()).scan("a.txt", Buffer.from(text)).map(({ severity }) => severity);
    for (const name of ["session_secret", "API_KEY", "db.password", '"accessToken"', "private-key"]) {
      expect(await severities(`${name}: "${drawn}"`), name).toEqual(["warning"]);
    }
    expect(await severities(`FASTLY_API_${"TOKEN"}=${drawn}`)).toEqual(["error"]);
    const harmless = [
      `public_key: "${drawn}"`,
      `cacheKey = "${drawn}"`,
      `password = "correct-horse-battery-staple-99"`,
      `secret = vault2.context.lookupSecret(field1.value)`,
      `API_KEY=your-key-goes-here-1234567890`,
      `token: "aaaaaaaaaaaaaaaaaaaaaaaa11111"`,
    ];
    for (const text of harmless) expect(await severities(text), text).toEqual([]);
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

  it("finds values of the vault however they are encoded, and leaves short ones", async () => {
    const value = 'quite "secret" value';
    const scanner = await leakScanner({
      knownValues: [
        { name: "db", value },
        { name: "short", value: "admin" },
      ],
    });
    const inside = Buffer.from(`user:${value}:x`);
    const texts = [value, JSON.stringify(value), encodeURIComponent(value), Buffer.from(value).toString("base64")];
    for (const text of [...texts, inside.toString("base64"), inside.toString("base64url"), inside.toString("hex")]) {
      expect(scanner.scan("x", Buffer.from(text))).toEqual([
        { path: "x", line: 1, rule: "vault-value", masked: 'the value of "db"', severity: "error" },
      ]);
    }
    expect(scanner.scan("x", Buffer.from("admin"))).toEqual([]);
  });

  it("tells of a file that exists to hold secrets, whatever is in it, and of a file's first twenty leaks", async () => {
    const scanner = await leakScanner();
    expect(scanner.scan("deploy/.env", Buffer.from("EMPTY=\n"))).toEqual([
      { path: "deploy/.env", line: null, rule: "secret-file", masked: ".env", severity: "error" },
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

  // What rules are made of, often in the order they look for and often not.
  const NAMES = [
    "pass",
    "Pwd",
    "pwd",
    "password",
    "PASSWORD",
    "passwd",
    "secret",
    "secret_key",
    "token",
    "api_key",
    "<token>",
  ];
  const CLOSINGS = ["", '"', "'", "`", "]", ")", '"]'];
  const BLANKS = ["", " ", "\n", " \t", "    ", "     ", "\u00a0"];
  const SIGNS = ["=", ":", ",", "=>", ":=", ">", "::", "==>"];
  const VALUES = [
    "Zk#4t+9mU!-f2wQo",
    "aB3dE6gH9#",
    "token9#AbXy",
    "x1",
    "Bearer ",
    "a.b-c",
    mixed(20),
    mixed(61),
    mixed(90),
  ];
  const PARTS = [NAMES, CLOSINGS, BLANKS, SIGNS, BLANKS, CLOSINGS, VALUES, CLOSINGS];
  const ASSIGNED = fc.tuple(...PARTS.map((part) => fc.constantFrom(...part))).map((parts) => parts.join(""));
  const PIECE = fc.oneof(ASSIGNED, fc.constantFrom(...PARTS.flat(), ";", "</", "SECRET"));
  const PIECES = fc.array(PIECE, { minLength: 1, maxLength: 8, size: "max" }).map((pieces) => pieces.join(""));

  it("finds with a look before the rule what it finds without", async () => {
    let found = 0;
    const looks = KEYWORDS.filter(({ rule, tail }) => typeof tail === "function" && rule === "assigned-password");
    const { find, reach } = (await loadLeakRules()).get("assigned-password")!;
    fc.assert(
      fc.property(PIECES, (text) => {
        const bytes = Buffer.from(text, "latin1");
        for (const { text: word, tail } of looks) {
          for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) {
            const from = Math.max(0, at - reach!.before);
            const window = bytes.subarray(from, at + reach!.after).toString("latin1");
            if (!find(window).some(([start, end]) => start <= at - from && at - from < end)) continue;
            found += 1;
            expect((tail as (bytes: Uint8Array, from: number) => boolean)(bytes, at + word.length), text).toBe(true);
          }
        }
      }),
      { numRuns: 2000 },
    );
    expect(found).toBeGreaterThan(50);
  });

  it("finds assignments as one expression would that tries every word", () => {
    const whole =
      /([A-Za-z][\w.-]{0,60})["'`]?\]?\s{0,4}(?:=>|:=|[=:])(?=\s{0,4}["'`]?(?:Bearer )?([\w\-./+~|:]{16,256}))/g;
    let found = 0;
    fc.assert(
      fc.property(PIECES, (text) => {
        const expected = [...text.matchAll(whole)].map(({ index, 0: all, 1: name, 2: value }) => {
          return { start: index, end: index + all.length, name, value };
        });
        found += expected.length;
        expect(assignments(text)).toEqual(expected);
        const places = [...text.matchAll(/[A-Za-z_-]/g)].map(({ index }) => index);
        const there = (place: number) => expected.filter(({ start, end }) => start <= place && place < end);
        // Together: to expect takes longer than to look.
        expect(places.map((place) => assignments(text, place))).toEqual(places.map(there));
      }),
      { numRuns: 2000 },
    );
    expect(found).toBeGreaterThan(150);
  });
});
