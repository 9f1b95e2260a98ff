// Long because: one desk with one vault that every credential command is tried on.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readIdentityFile, signRotation } from "../../src/vault/index.js";
import { answers, Desk, NOW } from "./run.js";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.remove());

const manifest = (dir = desk.dir) => JSON.parse(readFileSync(join(dir, "nutshell.json"), "utf8"));
const vaultFile = (dir = desk.dir) => join(dir, "credentials/vault.enc.json");
const DB = { host: "staging-db.internal", port: 5432, username: "agent_writer", password: "rotated-token-abc123" };
const add = (name: string, value: unknown, ...flags: string[]) =>
  desk.run(["add-credential", "--name", name, "--type", "postgresql", "--value-stdin", ...flags], {
    stdin: typeof value === "string" ? value : JSON.stringify(value),
  });
const openVault = async () => JSON.parse((await desk.run(["reveal", "--all"])).out);

describe("keygen", () => {
  it("makes an identity for its owner alone, once", async () => {
    const made = await desk.run(["keygen", "--json"]);
    const { path, recipient } = JSON.parse(made.out);
    expect(path).toBe(join(desk.home, ".config/nutshell/identity.txt"));
    expect(recipient).toMatch(/^age1[a-z0-9]{58}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const before = readFileSync(path);
    expect(await desk.run(["keygen"])).toMatchObject({ code: 2, out: "" });
    expect(readFileSync(path)).toEqual(before);
    expect(made.out + made.err).not.toContain("AGE-SECRET-KEY");
  });

  it("makes a peer identity and tells its public names", async () => {
    const { out } = await desk.run(["keygen", "--peer", "-o", desk.path("me.key"), "--json"]);
    expect(JSON.parse(out)).toMatchObject({
      public_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      peer_id: expect.stringMatching(/^12D3KooW/),
    });
    expect(statSync(desk.path("me.key")).size).toBe(64);
  });
});

describe("add-credential", () => {
  beforeEach(() => desk.run(["keygen"]));

  it("writes the seed's vault and mirrors everything but the value", async () => {
    const { code, out } = await add(
      "staging-db",
      DB,
      "--scope",
      "read",
      "--scope",
      "write",
      "--restrict",
      "tables=users,sessions",
      "--restrict",
      "max_rows_per_query=1000",
      "--rate-limit",
      "100/min",
      "--expires",
      "7d",
      "--json",
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      variables: ["STAGING_DB", "STAGING_DB_HOST", "STAGING_DB_PORT", "STAGING_DB_USERNAME", "STAGING_DB_PASSWORD"],
    });
    expect(await openVault()).toEqual({
      vault_version: "0.2.0",
      created_at: "2026-03-14T10:00:00Z",
      recipients: [expect.stringMatching(/^age1/)],
      credentials: [
        {
          name: "staging-db",
          type: "postgresql",
          value: DB,
          scopes: ["read", "write"],
          restrictions: { tables: ["users", "sessions"], max_rows_per_query: 1000, rate_limit: "100/min" },
          expires_at: "2026-03-21T10:00:00Z",
        },
      ],
    });
    expect(manifest()).toMatchObject({
      x_unknown: { kept: true },
      credentials: {
        vault: "credentials/vault.enc.json",
        encryption: "age",
        scopes: [
          {
            name: "staging-db",
            type: "postgresql",
            access_level: "read-write",
            rate_limit: "100/min",
            expires_at: "2026-03-21T10:00:00Z",
          },
        ],
      },
    });
    expect(statSync(vaultFile()).mode & 0o077).toBe(0);
  });

  it("takes the value from a file, a variable, a prompt; one place only, never empty", async () => {
    writeFileSync(desk.path("value"), "from-a-file\n");
    const base = ["add-credential", "--type", "token"];
    await desk.run([...base, "--name", "a", "--value-file", desk.path("value")]);
    await desk.run([...base, "--name", "b", "--value-env", "B_VALUE"], { env: { B_VALUE: "from-a-variable" } });
    await desk.run([...base, "--name", "c"], { ask: answers({ secret: ["from-a-prompt"] }) });
    await desk.run([...base, "--name", "d", "--value-stdin", "--text"], { stdin: "{not json" });
    const values = (await openVault()).credentials.map(({ value }: { value: string }) => value);
    expect(values).toEqual(["from-a-file", "from-a-variable", "from-a-prompt", "{not json"]);
    const before = readFileSync(vaultFile());
    const wrong = [
      await desk.run([...base, "--name", "e", "--value-stdin"], { stdin: "" }),
      await desk.run([...base, "--name", "e", "--value-stdin", "--value-env", "X"], { stdin: "x" }),
      await desk.run([...base, "--name", "e", "--value-env", "ABSENT"]),
      await desk.run([...base, "--name", "e", "--value-stdin"], { stdin: '{"half": ' }),
      await desk.run([...base, "--name", "a", "--value-stdin"], { stdin: "again" }),
      await desk.run([...base, "--name", "../e", "--value-stdin"], { stdin: "x" }),
    ];
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2]);
    expect(readFileSync(vaultFile())).toEqual(before);
  });

  it("has no flag that takes a value on the command line", async () => {
    expect(await desk.run(["add-credential", "--name", "a", "--type", "t", "--value", "x"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("unknown flag --value"),
    });
  });

  it("without a terminal says exactly what to run", async () => {
    const noValue = await desk.run(["add-credential", "--name", "a", "--type", "token"]);
    expect(noValue.err).toContain('hint: nutshell add-credential --name a --type token --value-file "<file>"');
    const flags = ["--scope", "read", "--scope", "my own", "--expires", "7d", "--replace", "--dir", "."];
    const typed = await desk.run(["add-credential", "-n", "a", "-t", "token", ...flags]);
    expect(typed.err).toContain(
      "add-credential --name a --type token --scope read --scope 'my own' --expires 7d --replace --dir . --value-file",
    );
    const bare = new Desk();
    const noKey = await bare.run(["add-credential", "--name", "a", "--type", "token", "--value-stdin"], { stdin: "x" });
    expect(noKey).toMatchObject({ code: 2 });
    expect(noKey.err).toContain("hint: nutshell keygen && nutshell add-credential --name a --type token");
    expect(existsSync(vaultFile(bare.dir))).toBe(false);
    bare.remove();
  });

  it("offers to make an identity, or takes a passphrase", async () => {
    const bare = new Desk();
    const base = ["add-credential", "--type", "token"];
    const made = await bare.run([...base, "--name", "a"], { ask: answers({ confirm: [true], secret: ["value-one"] }) });
    expect(made.err).not.toContain("none of your identities");
    expect(made.out).toContain(`Identity made: ${join(bare.home, ".config/nutshell/identity.txt")}`);
    expect((await bare.run(["reveal", "a"])).out).toBe("value-one");
    bare.remove();

    const other = new Desk();
    const typed = await other.run([...base, "--name", "a"], {
      ask: answers({ confirm: [false], secret: ["correct horse", "correct horse", "value-two"] }),
    });
    expect(typed.code).toBe(0);
    expect((await other.run(["reveal", "a"], { env: { NUTSHELL_PASSPHRASE: "correct horse" } })).out).toBe("value-two");
    expect(await other.run(["reveal", "a"], { env: { NUTSHELL_PASSPHRASE: "wrong" } })).toMatchObject({
      code: 2,
      out: "",
    });
    expect(await other.run(["reveal", "a"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("nobody can be asked"),
    });
    const differ = new Desk();
    const twice = await differ.run([...base, "--name", "a"], {
      ask: answers({ confirm: [false], secret: ["one", "two"] }),
    });
    expect(twice.code).toBe(2);
    expect(existsSync(vaultFile(differ.dir))).toBe(false);
    other.remove();
    differ.remove();
  });

  it("refuses an expiry that is past or unreadable", async () => {
    for (const expires of ["2026-03-14T09:59:59Z", "2020-01-01", "2026-02-31", "0d", "soon", "7x"]) {
      expect(await add("a", "value", "--expires", expires), expires).toMatchObject({ code: 2, out: "" });
    }
    expect(existsSync(vaultFile())).toBe(false);
    await add("a", "value", "--expires", "2026-03-20");
    expect(manifest().credentials.scopes[0].expires_at).toBe("2026-03-20T23:59:59Z");
  });

  it("loses nothing when several are added at once: each is in the vault or refused", async () => {
    await add("first", "value-first", "--expires", "7d");
    const names = Array.from({ length: 8 }, (_, i) => `n${i}`);
    const results = await Promise.all(names.map((name) => add(name, `value-${name}`, "--expires", "7d")));
    const added = names.filter((_, i) => results[i]!.code === 0);
    expect(added.length).toBeGreaterThan(0);
    for (const { code, err } of results) if (code !== 0) expect(err).toContain("in the meantime");
    const inside = (await openVault()).credentials.map(({ name }: { name: string }) => name).sort();
    expect(inside).toEqual(["first", ...added].sort());
    expect(
      manifest()
        .credentials.scopes.map(({ name }: { name: string }) => name)
        .sort(),
    ).toEqual(inside);
  });

  it("does not follow a vault path out of the folder", async () => {
    desk.folder(desk.dir, { credentials: { vault: "../outside.json" } });
    expect(await add("a", "value")).toMatchObject({ code: 2, err: expect.stringContaining("leaves the bundle") });
    desk.folder(desk.dir);
    mkdirSync(desk.path("elsewhere"));
    symlinkSync(desk.path("elsewhere"), join(desk.dir, "credentials"));
    expect(await add("a", "value")).toMatchObject({ code: 2, err: expect.stringContaining("through a link") });
    expect(existsSync(desk.path("elsewhere/vault.enc.json"))).toBe(false);
  });

  it.skipIf(spawnSync("age", ["--version"]).status !== 0)(
    "makes a vault the age program opens, and opens its",
    async () => {
      await add("a", "value-one", "--expires", "7d");
      const identity = join(desk.home, ".config/nutshell/identity.txt");
      const plain = execFileSync("age", ["-d", "-i", identity, vaultFile()]);
      expect(JSON.parse(plain.toString()).credentials[0].value).toBe("value-one");
      const recipient = execFileSync("age-keygen", ["-y", identity], { encoding: "utf8" }).trim();
      writeFileSync(
        vaultFile(),
        execFileSync("age", ["-r", recipient], { input: plain.toString().replace("value-one", "value-two") }),
      );
      expect((await desk.run(["reveal", "a"])).out).toBe("value-two");
    },
  );

  it("asks for recipients instead of guessing when the vault does not name them", async () => {
    await add("a", "value", "--expires", "7d");
    const identity = join(desk.home, ".config/nutshell/identity.txt");
    const recipient = /age1\w+/.exec(readFileSync(identity, "utf8"))![0];
    const { ageEncrypt } = await import("../../src/vault/index.js");
    const plain = Buffer.from(JSON.stringify({ vault_version: "0.2.0", credentials: [] }));
    writeFileSync(vaultFile(), await ageEncrypt(plain, { recipients: [recipient] }));
    const refused = await add("b", "value-b");
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("does not say who it is for") });
    expect(await add("b", "value-b", "--recipient", recipient)).toMatchObject({ code: 0 });
  });
});

describe("credentials", () => {
  it("lists names and states with and without a key, never a value", async () => {
    await desk.run(["keygen"]);
    await add("soon", "value-soon", "--expires", "2d", "--restrict", "tables=users");
    await add("long", "value-long", "--expires", "300d");
    await add("forever", "value-forever");
    const open = JSON.parse((await desk.run(["credentials", "--json"])).out);
    expect(open).toMatchObject({ opened: true, encryption: "age" });
    expect(open.credentials.map(({ name, state }: Record<string, string>) => [name, state])).toEqual([
      ["soon", "expiring_soon"],
      ["long", "valid"],
      ["forever", "no_expiry"],
    ]);
    expect(open.credentials[0].restrictions).toEqual({ tables: "users" });
    expect(open.findings.map(({ code }: { code: string }) => code)).toEqual([
      "CREDENTIAL_EXPIRES_SOON",
      "CREDENTIAL_NO_EXPIRY",
    ]);
    const closed = await desk.run(["credentials", "--json"], { env: { HOME: desk.path("nobody") } });
    expect(JSON.parse(closed.out)).toMatchObject({
      opened: false,
      credentials: [{ name: "soon" }, { name: "long" }, { name: "forever" }],
    });
    const words = await desk.run(["credentials"], { env: { HOME: desk.path("nobody") } });
    expect(words.out).toMatch(/, closed\)\nclosed: .*identity/);
    const text = await desk.run(["credentials"]);
    expect(text.out).toContain("soon: only tables users");
    expect(text.out + JSON.stringify(open) + closed.out).not.toMatch(/value-/);
  });
});

describe("reveal", () => {
  beforeEach(async () => {
    await desk.run(["keygen"]);
    await add("staging-db", DB, "--expires", "7d");
  });

  it("gives a pipe the value and nothing else, and keeps it off a terminal unless told", async () => {
    expect((await desk.run(["reveal", "staging-db", "--field", "password"])).out).toBe(DB.password);
    expect(JSON.parse((await desk.run(["reveal", "staging-db"])).out)).toEqual(DB);
    expect(await desk.run(["reveal", "staging-db"], { tty: true })).toMatchObject({ code: 2, out: "" });
    expect((await desk.run(["reveal", "staging-db", "-f", "password", "--show"], { tty: true })).out).toBe(
      `${DB.password}\n`,
    );
    expect(await desk.run(["reveal", "staging-db", "--field", "nope"])).toMatchObject({ code: 2, out: "" });
    expect(await desk.run(["reveal", "other"])).toMatchObject({ code: 2, out: "" });
  });

  it("does not hand out what has expired, in vault, credential or scope", async () => {
    const later = new Date(NOW.getTime() + 8 * 86_400_000);
    expect(await desk.run(["reveal", "staging-db"], { now: later })).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("expired at"),
    });
    const changed = manifest();
    changed.credentials.scopes[0].expires_at = "2026-03-14T09:00:00Z";
    writeFileSync(join(desk.dir, "nutshell.json"), JSON.stringify(changed));
    expect(await desk.run(["reveal", "staging-db"])).toMatchObject({ code: 2, out: "" });
    changed.credentials.scopes[0].expires_at = "next week";
    writeFileSync(join(desk.dir, "nutshell.json"), JSON.stringify(changed));
    expect(await desk.run(["reveal", "staging-db"])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("cannot be read"),
    });
  });

  it("says which key is missing, exposed or wrong", async () => {
    const identity = join(desk.home, ".config/nutshell/identity.txt");
    chmodSync(identity, 0o644);
    expect(await desk.run(["reveal", "staging-db"])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(`chmod 600 ${identity}`),
    });
    await desk.run(["keygen", "-o", desk.path("other.txt")]);
    expect(await desk.run(["reveal", "staging-db", "-i", desk.path("other.txt")])).toMatchObject({
      code: 2,
      err: expect.stringContaining("none of the identities"),
    });
    expect(await desk.run(["reveal", "staging-db", "-i", desk.path("absent.txt")])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no such file"),
    });
  });

  it("refuses a vault in clear behind `encryption: age`", async () => {
    writeFileSync(
      vaultFile(),
      JSON.stringify({ vault_version: "0.2.0", credentials: [{ name: "staging-db", type: "x", value: "clear" }] }),
    );
    expect(await desk.run(["reveal", "staging-db"])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("not encrypted"),
    });
  });
});

describe("exec", () => {
  beforeEach(async () => {
    await desk.run(["keygen"]);
    await add("staging-db", DB, "--expires", "7d", "--restrict", "tables=users,sessions");
    await add("api-token", "sk-agent-scoped-xyz789", "--expires", "7d");
  });
  const exec = (names: string[], script: string, env: Record<string, string> = {}) =>
    desk.run(["exec", ...names.flatMap((name) => ["--with", name]), "--", "sh", "-c", script], { env });

  it("sets the values in the child alone, scrubs them from its output and passes its status on", async () => {
    const { code, out, err } = await exec(
      ["staging-db"],
      'echo "$STAGING_DB_HOST $STAGING_DB_PORT $(printf %s "$STAGING_DB_PASSWORD" | wc -c) $STAGING_DB_PASSWORD"; echo "$STAGING_DB_PASSWORD" | base64 >&2; exit 3',
    );
    expect(code).toBe(3);
    expect(out).toBe(`staging-db.internal 5432 ${DB.password.length} [redacted:staging-db]\n`);
    expect(err).toContain("staging-db: only tables users, sessions");
    expect(err).toContain("[redacted:staging-db]");
    expect(err).not.toContain(Buffer.from(DB.password).toString("base64").slice(0, 20));
  });

  it("keeps the arguments of the child free of values and of our own keys", async () => {
    const { out } = await exec(
      ["api-token"],
      "tr '\\0' ' ' < /proc/self/cmdline; tr '\\0' ' ' < /proc/$PPID/cmdline; env | grep -c NUTSHELL_PASSPHRASE",
      { NUTSHELL_PASSPHRASE: "the-passphrase" },
    );
    expect(out).not.toContain("sk-agent-scoped");
    expect(out.trim().endsWith("0")).toBe(true);
    const typed = await exec(["api-token"], "echo sk-agent-scoped-xyz789");
    expect(typed).toMatchObject({ code: 1, out: "", err: expect.stringContaining("command line holds the value") });
    expect(typed.err).not.toContain("xyz789");
  });

  it("feeds standard input through, and ends by itself", async () => {
    const result = await desk.run(["exec", "-w", "api-token", "--", "cat"], {
      stdin: "typed sk-agent-scoped-xyz789\n",
    });
    expect(result).toMatchObject({ code: 0, out: "typed [redacted:api-token]\n" });
  });

  it("records every hand-out by name, time and purpose", async () => {
    await exec(["staging-db", "api-token"], "true");
    await desk.run(["reveal", "api-token", "--purpose", "by hand"]);
    const log = readFileSync(join(desk.dir, "delivery/logs/credentials.jsonl"), "utf8");
    expect(
      log
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { name: "staging-db", at: "2026-03-14T10:00:00Z", purpose: "exec sh" },
      { name: "api-token", at: "2026-03-14T10:00:00Z", purpose: "exec sh" },
      { name: "api-token", at: "2026-03-14T10:00:00Z", purpose: "by hand" },
    ]);
    expect(log).not.toContain(DB.password);
  });

  it("refuses names that would change what programs do, and needs a command", async () => {
    for (const name of ["path", "ld-preload", "NODE.OPTIONS", "bash-env", "git-ssh-command"]) {
      expect(await add(name, "value-of-it"), name).toMatchObject({
        code: 2,
        err: expect.stringContaining("which programs obey"),
      });
    }
    for (const [words, lack, again] of [
      [["--with", "api-token", "--"], "needs a command after --", "--with api-token -- sh -c '<command>'"],
      [["--with", "api-token"], "needs a command after --", "--with api-token -- sh -c '<command>'"],
      [["--", "say", "two words"], "needs at least one credential", "--with '<name>' -- say 'two words'"],
    ] as const) {
      const { code, err } = await desk.run(["exec", ...words]);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(lack) });
      expect(err).toContain(`hint: nutshell exec ${again}\n`);
    }
    expect(await desk.run(["exec", "--with", "api-token", "--", "no-such-program-here"])).toMatchObject({ code: 2 });
  });
});

describe("rotate", () => {
  beforeEach(async () => {
    await desk.run(["keygen"]);
    await desk.run(["keygen", "--peer"]);
    await add("db", "value-old", "--expires", "3d");
  });

  it("audits without changing a byte, and answers no when something expired", async () => {
    const before = [readFileSync(vaultFile()), readFileSync(join(desk.dir, "nutshell.json"))];
    expect((await desk.run(["rotate"])).code).toBe(0);
    const late = await desk.run(["rotate", "--json"], { now: new Date(NOW.getTime() + 4 * 86_400_000) });
    expect(late.code).toBe(1);
    expect(JSON.parse(late.out).credentials).toMatchObject([{ name: "db", state: "expired" }]);
    expect([readFileSync(vaultFile()), readFileSync(join(desk.dir, "nutshell.json"))]).toEqual(before);
  });

  it("renews by 30 days, or to a time, or with a new value", async () => {
    expect((await desk.run(["rotate", "db"])).out).toContain("2026-04-13T10:00:00Z");
    expect((await desk.run(["rotate", "db", "--expires", "2027-01-01T00:00:00Z"])).code).toBe(0);
    expect(manifest().credentials.scopes[0].expires_at).toBe("2027-01-01T00:00:00Z");
    await desk.run(["rotate", "db", "--value-stdin"], { stdin: "value-new" });
    expect((await desk.run(["reveal", "db"])).out).toBe("value-new");
    expect(await desk.run(["rotate", "nobody"])).toMatchObject({ code: 2 });
  });

  it("changes who may open the vault", async () => {
    const other = JSON.parse((await desk.run(["keygen", "-o", desk.path("other.txt"), "--json"])).out).recipient;
    const mine = (await openVault()).recipients[0];
    expect(await desk.run(["reveal", "db", "-i", desk.path("other.txt")])).toMatchObject({ code: 2 });
    await desk.run(["rotate", "--recipient", other]);
    expect((await desk.run(["reveal", "db", "-i", desk.path("other.txt")])).out).toBe("value-old");
    await desk.run(["rotate", "--remove-recipient", mine]);
    expect(await desk.run(["reveal", "db"])).toMatchObject({ code: 2, out: "" });
    expect((await desk.run(["rotate", "--remove-recipient", other, "-i", desk.path("other.txt")])).code).toBe(2);
  });

  it("moves between backends and never silently to clear text", async () => {
    expect(await desk.run(["rotate", "--encryption", "none"])).toMatchObject({ code: 0 });
    expect(manifest().credentials.encryption).toBe("none");
    expect(readFileSync(vaultFile(), "utf8")).toContain("value-old");
    expect(await desk.run(["rotate", "--encryption", "age"])).toMatchObject({ code: 0 });
    expect(readFileSync(vaultFile(), "utf8")).not.toContain("value-old");
    expect(await desk.run(["rotate", "--encryption", "sops"], { env: { PATH: "" } })).toMatchObject({
      code: 2,
      err: expect.stringContaining("sops program, which is not installed"),
    });
    expect(manifest().credentials.encryption).toBe("age");
  });

  it("reaches holders of the bundle by a signed file, in order, and nobody else's", async () => {
    const holder = desk.path("holder");
    cpSync(desk.dir, holder, { recursive: true });
    const rotation = (n: number) => desk.path(`r${n}.json`);
    await desk.run(["rotate", "db", "--value-stdin", "--export", rotation(1)], { stdin: "value-1" });
    await desk.run(["rotate", "db", "--value-stdin", "--export", rotation(2)], { stdin: "value-2" });
    const apply = (n: number) => desk.run(["apply-rotation", rotation(n), "--dir", holder]);
    expect(readFileSync(rotation(1), "utf8")).not.toContain("value-1");

    expect((await apply(1)).code).toBe(0);
    expect((await desk.run(["reveal", "db", "--dir", holder])).out).toBe("value-1");
    expect(manifest(holder).x_unknown).toEqual({ kept: true });
    expect((await apply(2)).code).toBe(0);
    const after = [readFileSync(vaultFile(holder)), readFileSync(join(holder, "nutshell.json"))];

    const good = JSON.parse(readFileSync(rotation(2), "utf8"));
    const stranger = JSON.parse((await desk.run(["keygen", "--peer", "-o", desk.path("evil.key"), "--json"])).out);
    const forged = [
      { ...good, payload: good.payload.replace('"sequence":2', '"sequence":9') },
      { ...good, public_key: stranger.public_key },
      { ...good, signature: good.signature.replace(/^../, "00") },
      { ...good, extra: 1 },
      // A stranger's own signature, which fits: only the key in the holder's manifest tells.
      signRotation({ ...JSON.parse(good.payload), sequence: 9 }, readIdentityFile(desk.path("evil.key"))),
      [],
    ];
    for (const [i, file] of forged.entries()) {
      writeFileSync(rotation(9), JSON.stringify(file));
      expect(await apply(9), `forged ${i}`).toMatchObject({ code: 2, err: expect.stringContaining("refused") });
    }
    expect(await apply(1)).toMatchObject({ code: 2, err: expect.stringContaining("was applied already") });
    const otherBundle = desk.folder(desk.path("other"), { id: "nut-other", publisher: manifest().publisher });
    expect(await desk.run(["apply-rotation", rotation(2), "--dir", otherBundle])).toMatchObject({
      code: 2,
      err: expect.stringContaining("it is for bundle"),
    });
    const noKey = desk.folder(desk.path("nokey"));
    expect(await desk.run(["apply-rotation", rotation(2), "--dir", noKey])).toMatchObject({
      code: 2,
      err: expect.stringContaining("names no publisher key"),
    });
    expect(await desk.run(["rotate", "db", "--export", rotation(3), "--signer", desk.path("evil.key")])).toMatchObject({
      code: 2,
    });
    expect(existsSync(rotation(3))).toBe(false);
    expect([readFileSync(vaultFile(holder)), readFileSync(join(holder, "nutshell.json"))]).toEqual(after);
  });

  it("revokes: the value is gone, here and at the holders", async () => {
    const holder = desk.path("holder");
    cpSync(desk.dir, holder, { recursive: true });
    expect((await desk.run(["revoke", "db", "--export", desk.path("r.json")])).code).toBe(0);
    expect(JSON.stringify(await openVault())).not.toContain("value-old");
    expect(await desk.run(["reveal", "db"])).toMatchObject({ code: 2, err: expect.stringContaining("was revoked") });
    await desk.run(["apply-rotation", desk.path("r.json"), "--dir", holder]);
    expect(await desk.run(["exec", "--dir", holder, "--with", "db", "--", "true"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("was revoked"),
    });
    expect(JSON.parse((await desk.run(["credentials", "--json", "--dir", holder])).out).credentials[0].state).toBe(
      "revoked",
    );
    await desk.run(["rotate", "db", "--value-stdin", "--expires", "3d"], { stdin: "value-fresh" });
    expect((await desk.run(["reveal", "db"])).out).toBe("value-fresh");
  });

  it("renews a manifest's row where there is no vault, as the seed's tool does", async () => {
    const dir = desk.folder(desk.path("rows"), { credentials: { scopes: [{ name: "a", type: "token", kept: 1 }] } });
    expect((await desk.run(["rotate", "a", "--expires", "7d", "--dir", dir])).code).toBe(0);
    expect(manifest(dir).credentials.scopes).toEqual([
      { name: "a", type: "token", kept: 1, expires_at: "2026-03-21T10:00:00Z" },
    ]);
  });
});
