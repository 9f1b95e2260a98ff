import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Context } from "../../src/operation.js";
import { RequestCredentials } from "../../src/request/vault/credentials.js";
import { Desk } from "./run.js";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.remove());
const vaultFile = () => join(desk.dir, "credentials/vault.enc.json");
const readVault = () => JSON.parse(readFileSync(vaultFile(), "utf8"));
const writeVault = (value: unknown) => writeFileSync(vaultFile(), JSON.stringify(value, null, 2));

describe("sops", () => {
  const value = {
    host: "db",
    port: 5432,
    ratio: 0.25,
    tls: true,
    off: false,
    password: "s3cret-é",
    empty: "",
    none: null,
    "10": "ten",
    "9": "nine",
    list: ["a", 1],
  };
  let env: Record<string, string>;
  beforeEach(async () => {
    await desk.run(["keygen"]);
    mkdirSync(desk.path("bin"));
    symlinkSync(fileURLToPath(new URL("sops-double.mjs", import.meta.url)), desk.path("bin/sops"));
    env = { PATH: `${desk.path("bin")}:${process.env.PATH}` };
    const added = await desk.run(
      [
        "add-credential",
        "--name",
        "db",
        "--type",
        "postgresql",
        "--encryption",
        "sops",
        "--expires",
        "7d",
        "--value-stdin",
      ],
      { stdin: JSON.stringify(value), env },
    );
    expect(added).toMatchObject({ code: 0 });
  });
  const reveal = () => desk.run(["reveal", "db"]);

  it("writes through the program and reads natively, MAC checked", async () => {
    expect(readVault().sops.mac).toMatch(/^ENC\[AES256_GCM/);
    expect(readFileSync(vaultFile(), "utf8")).not.toContain("s3cret");
    expect(JSON.parse((await reveal()).out)).toEqual(value);
    expect((await desk.run(["rotate", "db", "--value-stdin"], { stdin: "new-value", env })).code).toBe(0);
    expect((await reveal()).out).toBe("new-value");
    expect(JSON.parse(readFileSync(join(desk.dir, "nutshell.json"), "utf8")).credentials.encryption).toBe("sops");
  });

  it("refuses a value that was changed, moved, taken away, added, or a MAC that does not fit", async () => {
    const good = readFileSync(vaultFile(), "utf8");
    type Tree = {
      credentials: { value: Record<string, unknown>; expires_at?: string }[];
      sops: Record<string, unknown>;
    };
    const damage: ((tree: Tree) => void)[] = [
      (tree) => {
        tree.credentials[0]!.value.password = String(tree.credentials[0]!.value.password).replace("data:", "data:AA");
      },
      (tree) => {
        tree.credentials[0]!.value.password = tree.credentials[0]!.value.host;
      },
      (tree) => {
        delete tree.credentials[0]!.expires_at;
      },
      (tree) => {
        tree.credentials[0]!.value.extra_unencrypted = "added";
      },
      (tree) => {
        tree.credentials[0]!.value.password = "in clear";
      },
      (tree) => {
        tree.sops.lastmodified = "2020-01-01T00:00:00Z";
      },
      (tree) => {
        tree.sops.mac = String(tree.sops.mac).replace(/tag:[^,]+/, "tag:AAAA");
      },
      (tree) => {
        tree.sops.mac = "";
      },
      (tree) => {
        tree.sops.mac_only_encrypted = true;
      },
    ];
    for (const [i, change] of damage.entries()) {
      const tree = JSON.parse(good) as Tree;
      change(tree);
      writeVault(tree);
      expect(await reveal(), `damage ${i}`).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringContaining("damaged or was changed"),
      });
    }
    writeFileSync(vaultFile(), good.replace('"name":', '"name": "x", "name":'));
    expect((await reveal()).code).toBe(2);
    writeFileSync(vaultFile(), good);
    expect((await reveal()).code).toBe(0);
  });

  describe("with a key of a cloud service", () => {
    const ARN = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    const STAND_IN_KMS = "07".repeat(32);
    beforeEach(() => {
      const vault = {
        vault_version: "0.2.0",
        created_at: "2026-03-14T10:00:00Z",
        credentials: [{ name: "db", type: "token", value: "cl0ud-s3cret" }],
      };
      const args = ["--encrypt", "--input-type", "json", "--output-type", "json", "--kms", ARN, "/dev/stdin"];
      const input = JSON.stringify(vault);
      const sealed = spawnSync(desk.path("bin/sops"), args, { input, env: { ...process.env, STAND_IN_KMS } });
      expect(sealed.status, sealed.stderr.toString()).toBe(0);
      writeFileSync(vaultFile(), sealed.stdout);
    });
    const revealed = (more: Record<string, string> = {}) =>
      desk.run(["reveal", "db"], { env: { ...env, STAND_IN_KMS, ...more } });
    const closed = (...words: string[]) => ({ code: 2, out: "", err: expect.stringMatching(words.join("[^]*")) });

    it("is read through the sops program, which checks the MAC", async () => {
      expect(readFileSync(vaultFile(), "utf8")).not.toContain("cl0ud");
      expect(await revealed()).toMatchObject({ code: 0, out: "cl0ud-s3cret" });
      const tree = readVault();
      tree.created_at = tree.credentials[0].name;
      writeVault(tree);
      expect(await revealed()).toMatchObject(closed("AWS KMS, and sops did not open it"));
    });

    it("moves to age with one command", async () => {
      const recipient = (await desk.run(["keygen", "-o", desk.path("theirs.txt"), "--json"])).out;
      const argv = ["rotate", "--encryption", "age", "--recipient", JSON.parse(recipient).recipient];
      expect(await desk.run(argv, { env: { ...env, STAND_IN_KMS } })).toMatchObject({ code: 0 });
      const opened = await desk.run(["reveal", "db", "--identity", desk.path("theirs.txt")], { env: { PATH: "" } });
      expect(opened).toMatchObject({ code: 0, out: "cl0ud-s3cret" });
    });

    it("says where its key is when there is no program, and how to log in when that does not open it", async () => {
      const none = await revealed({ PATH: "" });
      expect(none).toMatchObject(closed("AWS KMS, and the sops program", "not installed", "sops --version"));
      expect(await revealed({ STAND_IN_KMS: "" })).toMatchObject(closed("did not open it .exit 128.", "aws sso login"));
      const list = await desk.run(["credentials", "--json"], { env: { ...env, PATH: "" } });
      expect(JSON.parse(list.out)).toMatchObject({
        encryption: "sops",
        opened: false,
        why_closed: expect.stringContaining("AWS KMS, and the sops program"),
      });
    });

    it("is not opened for agents, whom nobody gave that login", async () => {
      const context = {
        cwd: desk.dir,
        env: { ...desk.env, ...env, STAND_IN_KMS },
        now: () => new Date("2026-01-01"),
        progress: () => {},
        ask: null,
        signal: new AbortController().signal,
      } as unknown as Context;
      const handOut = (onlyNamed: boolean) =>
        new RequestCredentials({ request: desk.dir, identity: [], onlyNamed, context }).handOut("db", "run");
      await expect(handOut(true)).rejects.toMatchObject({
        code: "VAULT_NO_MATCHING_KEY",
        message: expect.stringContaining("with AWS KMS, and a login there is not used unasked"),
      });
      expect((await handOut(false)).credential.value).toBe("cl0ud-s3cret");
    });

    it("sends a login nowhere but to its own service, however the file spells it", async () => {
      const marker = desk.path("ran");
      writeFileSync(desk.path("marking"), `#!/bin/sh\n: > ${marker}\necho "{}"\n`, { mode: 0o755 });
      rmSync(desk.path("bin/sops"));
      renameSync(desk.path("marking"), desk.path("bin/sops"));
      const { sops, ...tree } = readVault();
      const hc = (address: string) => ({
        hc_vault: [{ vault_address: address, engine_path: "t", key_name: "k", enc: "" }],
      });
      const files: [string, string][] = [
        [
          "at an address that is not",
          JSON.stringify({ ...tree, sops: { ...sops, kms: [{ arn: `arn:aws:kms:x.evil.example/#:1:key/1` }] } }),
        ],
        [
          "at an address that is not",
          JSON.stringify({
            ...tree,
            sops: { ...sops, azure_kv: [{ vault_url: "https://evil.example/vault.azure.net" }] },
          }),
        ],
        [
          "other than the one of VAULT_ADDR",
          JSON.stringify({ ...tree, sops: { ...sops, ...hc("https://evil.example") } }),
        ],
        [
          "other than the one of VAULT_ADDR",
          JSON.stringify({ ...tree, sops: { ...sops, key_groups: [hc("https://evil.example")] } }),
        ],
        [
          "not known: HC_Vault",
          JSON.stringify({ ...tree, sops: { ...sops, HC_Vault: hc("https://evil.example").hc_vault } }),
        ],
        ["not known: kms", JSON.stringify({ ...tree, sops }).replace('"kms":', '"kms":[],"kms":')],
        ["not known: sops", JSON.stringify({ ...tree, Sops: hc("https://evil.example"), sops })],
        ["not known: sops", JSON.stringify({ ...tree, "\u017fops": hc("https://evil.example"), sops })],
      ];
      for (const [words, text] of files) {
        writeFileSync(vaultFile(), text);
        const mine = { VAULT_ADDR: "https://vault.example", VAULT_TOKEN: "t" };
        expect(await revealed(mine), words).toMatchObject(closed(words));
        expect(existsSync(marker), text).toBe(false);
      }
      writeFileSync(
        vaultFile(),
        JSON.stringify({ ...tree, sops: { ...sops, kms: null, ...hc("https://vault.example:443/") } }),
      );
      await revealed({ VAULT_ADDR: "https://vault.example", VAULT_TOKEN: "t" });
      expect(existsSync(marker)).toBe(true);
    });
  });

  it("says which key or program is missing", async () => {
    expect(await desk.run(["reveal", "db"], { env: { HOME: desk.path("nobody") } })).toMatchObject({
      code: 2,
      err: expect.stringContaining("no identity is at hand"),
    });
    const identity = readFileSync(join(desk.home, ".config/nutshell/identity.txt"), "utf8");
    expect(
      (await desk.run(["reveal", "db"], { env: { HOME: desk.path("nobody"), SOPS_AGE_KEY: identity } })).code,
    ).toBe(0);
    const before = readFileSync(vaultFile());
    expect(await desk.run(["rotate", "db"], { env: { PATH: "" } })).toMatchObject({
      code: 2,
      err: expect.stringContaining("not installed"),
    });
    expect(readFileSync(vaultFile())).toEqual(before);
  });
});

describe("HashiCorp Vault transit", () => {
  let server: ChildProcess;
  let address: string;
  beforeAll(async () => {
    server = spawn(process.execPath, [fileURLToPath(new URL("transit-double.mjs", import.meta.url))], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(server.stdout!, "data")) as [Buffer];
    address = `http://127.0.0.1:${line.toString().trim()}`;
  });
  afterAll(() => {
    server.kill();
  });
  const env = (token = "t-good") => ({ VAULT_ADDR: address, VAULT_TOKEN: token, VAULT_NAMESPACE: "team/a" });
  const seen = async () =>
    (await fetch(`${address}/requests`)).json() as Promise<{ url: string; namespace: string; token: string }[]>;
  const reveal = (token?: string, more: Record<string, string> = {}) =>
    desk.run(["reveal", "db"], { env: { ...env(token), ...more } });
  beforeEach(async () => {
    const added = await desk.run(
      [
        "add-credential",
        "--name",
        "db",
        "--type",
        "token",
        "--encryption",
        "vault",
        "--transit-key",
        "tasks",
        "--expires",
        "7d",
        "--value-stdin",
      ],
      { stdin: "value-in-transit", env: env() },
    );
    expect(added).toMatchObject({ code: 0 });
  });

  it("encrypts, decrypts and rewraps at the server, in its namespace", async () => {
    expect(readVault()).toEqual({
      transit: { key: "tasks", mount: "transit" },
      ciphertext: expect.stringMatching(/^vault:v1:/),
    });
    expect((await reveal()).out).toBe("value-in-transit");
    await fetch(`${address}/v1/transit/rotate/tasks`, {
      method: "POST",
      headers: { "x-vault-token": "t-good" },
      body: "{}",
    });
    expect((await desk.run(["rotate", "--re-encrypt"], { env: env() })).code).toBe(0);
    expect(readVault().ciphertext).toMatch(/^vault:v2:/);
    expect((await reveal()).out).toBe("value-in-transit");
    const urls = (await seen()).filter(({ namespace }) => namespace === "team/a").map(({ url }) => url);
    expect(urls).toEqual(
      expect.arrayContaining(["/v1/transit/encrypt/tasks", "/v1/transit/decrypt/tasks", "/v1/transit/rewrap/tasks"]),
    );
  });

  it("takes the token from ~/.vault-token, and says when there is none", async () => {
    writeFileSync(join(desk.home, ".vault-token"), "t-good\n", { mode: 0o600 });
    expect((await desk.run(["reveal", "db"], { env: { VAULT_ADDR: address } })).out).toBe("value-in-transit");
    expect(await desk.run(["reveal", "db"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no server is named"),
    });
  });

  it.each([
    ["t-denied", "the token may not use this key"],
    ["t-broken", "answered 503"],
    ["t-away", "the token is not sent there"],
    ["t-circle", "redirects in a circle"],
    ["t-half", "broke off"],
    ["t-html", "not what the transit engine sends"],
  ])("%s: refuses in one line, with nothing of the content", async (token, words) => {
    const before = readFileSync(vaultFile());
    const answer = await reveal(token);
    expect(answer).toMatchObject({ code: 2, out: "", err: expect.stringContaining(words) });
    expect(answer.err).not.toContain(token);
    expect(answer.err).not.toContain(readVault().ciphertext.slice(10));
    expect((await desk.run(["rotate", "db"], { env: env(token) })).code).toBe(2);
    expect(readFileSync(vaultFile())).toEqual(before);
  });

  it("follows a redirect to the same host", async () => {
    expect((await reveal("t-moved")).out).toBe("value-in-transit");
  });

  it("never sends a token in clear off this machine, nor where a bundle says", async () => {
    expect(await reveal("t-good", { VAULT_ADDR: "http://vault.example:8200" })).toMatchObject({
      code: 2,
      err: expect.stringContaining("not https"),
    });
    expect(await reveal("t-good", { VAULT_ADDR: "nonsense" })).toMatchObject({ code: 2 });
    expect(await reveal("t-good", { VAULT_ADDR: "http://127.0.0.1:1" })).toMatchObject({
      code: 2,
      err: expect.stringContaining("ECONNREFUSED"),
    });
    for (const transit of [
      { key: "../../sys/seal", mount: "transit" },
      { key: "a", mount: "//evil.example" },
      { key: "a?b", mount: "transit" },
    ]) {
      writeVault({ transit, ciphertext: "vault:v1:AAAA", address: "https://evil.example" });
      expect(await reveal(), JSON.stringify(transit)).toMatchObject({
        code: 2,
        err: expect.stringContaining("do not belong in a name"),
      });
    }
    writeVault({ transit: { key: "tasks", mount: "transit" }, ciphertext: "vault:v1:AAAA" });
    expect(await reveal()).toMatchObject({ code: 2, err: expect.stringContaining("answered 400") });
  });
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe("HashiCorp Vault transit over https", () => {
  it.skipIf(!hasOpenssl)("trusts the authority VAULT_CACERT names, and no other (needs openssl)", async () => {
    const [key, cert] = [desk.path("server.key"), desk.path("server.pem")];
    const made = spawnSync("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-keyout", key, "-out", cert, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
    ]);
    expect(made.status, made.stderr.toString()).toBe(0);
    const server = spawn(process.execPath, [fileURLToPath(new URL("transit-double.mjs", import.meta.url))], {
      env: { ...process.env, TLS_KEY: key, TLS_CERT: cert },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const [line] = (await once(server.stdout!, "data")) as [Buffer];
      const env = { VAULT_ADDR: `https://127.0.0.1:${line.toString().trim()}`, VAULT_TOKEN: "t-good" };
      const add = ["add-credential", "--name", "db", "--type", "token", "--encryption", "vault", "--value-stdin"];
      expect(await desk.run(add, { stdin: "over-https", env })).toMatchObject({
        code: 2,
        err: expect.stringMatching(/error: .*https:\/\/127\.0\.0\.1.*\n.*hint: /),
      });
      const trusting = { ...env, VAULT_CACERT: cert };
      expect(await desk.run(add, { stdin: "over-https", env: trusting })).toMatchObject({ code: 0 });
      expect((await desk.run(["reveal", "db"], { env: trusting })).out).toBe("over-https");
      expect(await desk.run(["reveal", "db"], { env })).toMatchObject({ code: 2, out: "" });
    } finally {
      server.kill();
    }
  });
});
