// Signing, trusting and policies through the command line.
// Long because: they share the keys and bundles that are made once.
import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  contentDigest,
  EarlyCopy,
  openBundle,
  packFolder,
  readAttached,
  writeAttached,
} from "../../src/bundle/index.js";
import type { Prompter } from "../../src/operation.js";
import { openLock } from "../../src/state/index.js";
import { Desk } from "../vault/run.js";
import { hasSshAgent, hasSshKeygen, publicLine, sshAgent, sshKey } from "./keys.js";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.remove());

const json = (text: string) => JSON.parse(text);
const codeOf = (err: string) => JSON.parse(err.slice(err.indexOf('{"error"'))).error;

/** A request as somebody else made it, with a command to run. */
async function stranger(compression: "gzip" | "zstd" | "none" = "gzip", publisher: object = { name: "Alice" }) {
  const folder = desk.folder(desk.path("stranger"), {
    publisher,
    acceptance: { criteria_file: "tests/criteria.json" },
  });
  const file = join(folder, "tests/criteria.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", command: "true" }] }));
  const output = desk.path(`task-${compression}.nut`);
  const { contentDigest: digest } = await packFolder(folder, { output, compression });
  return { path: output, digest, folder };
}

/** Somebody else's key, as a file this account does not hold by default. */
async function key(name: string): Promise<{ file: string; publicKey: string }> {
  const file = desk.path(`${name}.key`);
  const { out } = await desk.run(["keygen", "--peer", "-o", file, "--json"]);
  return { file, publicKey: json(out).public_key };
}

function person(answer: boolean): { ask: Prompter; questions: string[] } {
  const questions: string[] = [];
  const confirm = async (question: string) => {
    questions.push(question);
    return answer;
  };
  return { questions, ask: { confirm, text: async () => "", secret: async () => "" } };
}

const policy = (text: string) => {
  const path = join(desk.home, ".config/nutshell/policy.yml");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const hasGo = spawnSync("go", ["version"]).error === undefined;

/** Magic, gzip and tar as a tool in Go reads them, and whatever follows. */
const GO_READER = `package main
import ("archive/tar"; "compress/gzip"; "fmt"; "io"; "os")
func must(err error) { if err != nil { panic(err) } }
func main() {
	file, err := os.Open(os.Args[1]); must(err)
	_, err = io.ReadFull(file, make([]byte, 4)); must(err)
	unzipped, err := gzip.NewReader(file); must(err)
	archive := tar.NewReader(unzipped)
	count := 0
	for {
		_, err := archive.Next()
		if err == io.EOF { break }
		must(err)
		_, err = io.Copy(io.Discard, archive); must(err)
		count++
	}
	rest, err := io.Copy(io.Discard, unzipped); must(err)
	fmt.Printf("%d entries, then %d bytes\\n", count, rest)
}
`;

describe("a signature", () => {
  it("travels in the file, changes no content digest, and several may be on it", async () => {
    const { path, digest } = await stranger();
    const archive = readFileSync(path);
    for (const name of ["alice", "bob"]) {
      const { code, out } = await desk.run(["sign", path, "--key", (await key(name)).file, "--json"]);
      expect(code).toBe(0);
      expect(json(out)).toMatchObject({ written: path, says: "request", content_digest: digest });
    }
    const bundle = await openBundle(path);
    expect(await bundle.contentDigest()).toBe(digest);
    expect((await bundle.verify()).filter(({ severity }) => severity === "error")).toEqual([]);
    await bundle.close();
    expect(readFileSync(path).subarray(0, archive.length).equals(archive)).toBe(true);
    const { out } = await desk.run(["inspect", path, "--json"]);
    expect(json(out).signatures).toMatchObject([
      { standing: "unknown", says: "request", why: "nobody you trust has this key" },
      { standing: "unknown", says: "request" },
    ]);
  });

  it.each(["zstd", "none"] as const)(
    "lies beside a bundle in %s, whose bytes stay as they were",
    async (compression) => {
      const { path } = await stranger(compression);
      const before = readFileSync(path);
      const { out } = await desk.run(["sign", path, "--key", (await key("alice")).file, "--json"]);
      expect(json(out).written).toBe(`${path}.sigs`);
      expect(readFileSync(path).equals(before)).toBe(true);
      expect(json((await desk.run(["inspect", path, "--json"])).out).signatures).toHaveLength(1);
    },
  );

  it("stays valid on the same content packed again, and counts for nothing on other content", async () => {
    const { path, folder } = await stranger();
    await desk.run(["sign", path, "--key", (await key("alice")).file, "--sidecar"]);
    const again = desk.path("again.nut");
    await packFolder(folder, { output: again, compression: "zstd" });
    copyFileSync(`${path}.sigs`, `${again}.sigs`);
    const standing = async (file: string) => json((await desk.run(["inspect", file, "--json"])).out).signatures[0];
    expect(await standing(again)).toMatchObject({ standing: "unknown" });
    writeFileSync(join(folder, "more.txt"), "more");
    await packFolder(folder, { output: again });
    expect(await standing(again)).toMatchObject({ standing: "invalid", why: "it is about other content" });
  });

  it("is passed over by gzip itself, and what is cut in it is refused or leaves the files as they were", async () => {
    const { path, digest } = await stranger();
    writeAttached(path, Buffer.from("x".repeat(150_000)));
    const tail = readFileSync(path).subarray(4);
    expect(execFileSync("gzip", ["-dc"], { input: tail }).length).toBeGreaterThan(1_000);
    expect(readAttached(path).bytes.length).toBe(150_000);
    const size = statSync(path).size;
    for (const cut of [1, 9, 11, 40, 60_000, 100_000]) {
      const copy = desk.path("cut.nut");
      copyFileSync(path, copy);
      truncateSync(copy, size - cut);
      const bundle = await openBundle(copy);
      const read = await bundle.contentDigest().catch(({ code }) => code);
      await bundle.close();
      expect([digest, "BUNDLE_CORRUPT"]).toContain(read);
    }
    writeAttached(path, Buffer.alloc(0));
    expect(readAttached(path).bytes.length).toBe(0);
  });

  it.skipIf(!hasGo)(
    "is passed over by Go's readers, which read to the end of the file",
    async () => {
      const { path } = await stranger();
      for (const name of ["alice", "bob"]) await desk.run(["sign", path, "--key", (await key(name)).file]);
      writeAttached(path, Buffer.concat([readAttached(path).bytes, Buffer.from("x".repeat(150_000))]));
      writeFileSync(desk.path("main.go"), GO_READER);
      const env = { ...desk.env, GOCACHE: desk.path("go-cache"), GOFLAGS: "-mod=mod" };
      const said = execFileSync("go", ["run", desk.path("main.go"), path], { env, encoding: "utf8" });
      const bundle = await openBundle(path);
      expect(said).toBe(`${(await bundle.list()).length} entries, then 0 bytes\n`);
      await bundle.close();
    },
    60_000,
  );

  it("of several who sign at once is lost by nobody, and there is an end to how many", async () => {
    const { path } = await stranger();
    const keys = await Promise.all(["a", "b", "c", "d"].map(async (name) => (await key(name)).file));
    const program = fileURLToPath(new URL("../../bin/nutshell.js", import.meta.url));
    const sign = promisify(execFile);
    await Promise.all(
      keys.map((file) => sign(process.execPath, [program, "sign", path, "--key", file], { env: desk.env })),
    );
    expect(json((await desk.run(["inspect", path, "--json"])).out).signatures).toHaveLength(4);
    const [line] = readAttached(path).bytes.toString().split("\n");
    const spare = (at: number) => line!.replace('"payloadType"', `"x${at}":0,"payloadType"`);
    writeAttached(path, Buffer.from(Array.from({ length: 64 }, (_, at) => `${spare(at)}\n`).join("")));
    const full = await desk.run(["sign", path, "--key", keys[0]!, "--json"]);
    expect(codeOf(full.err)).toMatchObject({ code: "SIGNATURE_UNFIT" });
    expect(json((await desk.run(["inspect", path, "--json"])).out).signatures).toHaveLength(64);
  });

  it("waits for whoever is signing", async () => {
    const { path } = await stranger();
    const { file } = await key("a");
    const lock = openLock(join(desk.env.HOME!, ".local/state/nutshell/signing.lock"));
    expect(lock.tryAcquire()).toBe(true);
    const program = fileURLToPath(new URL("../../bin/nutshell.js", import.meta.url));
    const signed = promisify(execFile)(process.execPath, [program, "sign", path, "--key", file], { env: desk.env });
    const first = await Promise.race([signed.then(() => "signed"), sleep(2_500, "waiting")]);
    lock.release();
    await signed;
    expect(first).toBe("waiting");
    expect(json((await desk.run(["inspect", path, "--json"])).out).signatures).toHaveLength(1);
  });

  it("is put on the file that is there, not on a copy of one that was", async () => {
    const { path } = await stranger();
    const other = desk.path("other.nut");
    const { contentDigest: digest } = await packFolder(desk.folder(desk.path("other")), { output: other });
    writeFileSync(path, readFileSync(path));
    const fresh = new EarlyCopy(path);
    expect(await fresh.ready()).toBe(false);
    await sleep(120);
    const copy = new EarlyCopy(path);
    expect(await copy.ready()).toBe(true);
    expect(copy.isOf(path)).toBe(true);
    writeFileSync(path, readFileSync(other));
    writeAttached(path, Buffer.from("x"), copy);
    const bundle = await openBundle(path);
    expect(await bundle.contentDigest()).toBe(digest);
    await bundle.close();
    await sleep(120);
    const used = new EarlyCopy(path);
    expect(await used.ready()).toBe(true);
    writeAttached(path, Buffer.from("y"), used);
    expect(readAttached(path).bytes.toString()).toBe("y");
    for (const one of [fresh, copy, used]) await one.remove();
    expect(readdirSync(dirname(path)).filter((name) => name.includes("nut-tmp"))).toEqual([]);
  });

  it("in the file and one beside it that disagree are judged each by itself", async () => {
    const { path } = await stranger();
    const [alice, bob] = [await key("alice"), await key("bob")];
    const other = desk.path("other.nut");
    await packFolder(desk.folder(desk.path("other")), { output: other });
    await desk.run(["sign", other, "--key", bob.file, "--sidecar"]);
    await desk.run(["trust", "add", "bob@example.org", "--from", other]);
    await desk.run(["sign", path, "--key", alice.file]);
    await desk.run(["trust", "add", "alice@example.org", "--from", path]);
    // One of other content, and the one of the file once more.
    const own = readAttached(path).bytes.toString();
    writeFileSync(`${path}.sigs`, readFileSync(`${other}.sigs`, "utf8") + own);
    const { signatures } = json((await desk.run(["inspect", path, "--json"])).out);
    expect(signatures).toMatchObject([
      { standing: "trusted" },
      { standing: "invalid", why: "it is about other content" },
    ]);
    expect((await desk.run(["verify", path, "--require", "signer=alice@example.org"])).code).toBe(0);
    expect((await desk.run(["verify", path, "--require", "signer=bob@example.org"])).code).not.toBe(0);
  });

  it("leaves lines it does not know where they are", async () => {
    const { path } = await stranger();
    writeAttached(path, Buffer.from('{"of":"a later version"}\n'));
    await desk.run(["sign", path, "--key", (await key("alice")).file]);
    expect(readAttached(path).bytes.toString().split("\n")[0]).toBe('{"of":"a later version"}');
    expect(json((await desk.run(["inspect", path, "--json"])).out).signatures).toMatchObject([
      { standing: "unknown" },
      { standing: "invalid", why: "a line is not an envelope we know" },
    ]);
  });

  it("is not found in an empty member of somebody else's", async () => {
    const { path } = await stranger();
    writeFileSync(path, Buffer.concat([readFileSync(path), gzipSync("")]));
    expect(readAttached(path).bytes.length).toBe(0);
  });
});

describe.skipIf(!hasSshKeygen)("an SSH key", () => {
  it("signs by default, and whoever trusts its .pub file sees who", async () => {
    mkdirSync(join(desk.home, ".ssh"));
    const file = sshKey(join(desk.home, ".ssh"), "id_ed25519");
    const { path } = await stranger();
    expect((await desk.run(["sign", path])).code).toBe(0);
    await desk.run(["trust", "add", "alice@example.org", "--key", `${file}.pub`]);
    expect(json((await desk.run(["inspect", path, "--json"])).out).signatures).toMatchObject([
      { standing: "trusted", principals: ["alice@example.org"] },
    ]);
    const list = readFileSync(join(desk.home, ".config/nutshell/allowed_signers"), "utf8");
    expect(list).toBe(`alice@example.org namespaces="nutshell" ${publicLine(file).split(" ").slice(0, 2).join(" ")}\n`);
  });

  it("with a passphrase and no agent is refused at once, with what to do", async () => {
    const file = desk.path("locked");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "secret", "-f", file]);
    const { path } = await stranger();
    const { code, err } = await desk.run(["sign", path, "--key", file, "--json"]);
    expect(code).toBe(2);
    expect(codeOf(err)).toMatchObject({ code: "SIGNER_MISSING", hint: expect.stringContaining(`ssh-add ${file}`) });
    expect(readAttached(path).bytes.length).toBe(0);
    const gone = await desk.run(["sign", path, "--key", `${file}.pub`, "--json"], { env: { SSH_AUTH_SOCK: "" } });
    rmSync(file);
    const elsewhere = await desk.run(["sign", path, "--key", `${file}.pub`, "--json"]);
    for (const { err: said } of [gone, elsewhere]) expect(codeOf(said).hint).toMatch(new RegExp(`ssh-add ${file}$`));
    const none = await desk.run(["sign", path, "--key", path, "--json"]);
    expect(codeOf(none.err)).toMatchObject({ code: "SIGNER_MISSING", message: `${path} holds no key we know` });
  });

  it.skipIf(!hasSshAgent)("that only the agent holds signs by its .pub file", async () => {
    const file = sshKey(desk.root, "held", ["ecdsa", "384"]);
    const agent = await sshAgent(desk.root, file);
    try {
      rmSync(file);
      const { path } = await stranger();
      const env = { SSH_AUTH_SOCK: agent.socket };
      const { code, err } = await desk.run(["sign", path, "--key", `${file}.pub`], { env });
      expect(code, err).toBe(0);
      await desk.run(["trust", "add", "alice@example.org", "--key", `${file}.pub`]);
      expect((await desk.run(["verify", path, "--require", "signer=alice@example.org"])).code).toBe(0);
    } finally {
      agent.stop();
    }
  });
});

describe("trust", () => {
  it("refuses names that are nobody's and private keys", async () => {
    const alice = await key("alice");
    for (const name of ["*@example.org", "аlice@example.org", ""]) {
      expect((await desk.run(["trust", "add", name, "--key", alice.publicKey])).code, name).toBe(2);
    }
    writeFileSync(desk.path("id"), "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    const { err } = await desk.run(["trust", "add", "alice@example.org", "--key", desk.path("id")]);
    expect(err).toContain("is a private key");
    expect(existsSync(join(desk.home, ".config/nutshell/allowed_signers"))).toBe(false);
  });

  it("is listed, taken back and revoked; a revoked key is not trusted again", async () => {
    const alice = await key("alice");
    await desk.run(["trust", "add", "alice@example.org", "--key", alice.publicKey, "--valid-before", "2026-01-01"]);
    const listed = json((await desk.run(["trust", "list", "--json"])).out);
    expect(listed.signers).toMatchObject([{ principals: ["alice@example.org"], trusted: false }]);
    const { out } = await desk.run(["trust", "remove", "alice@example.org", "--revoke", "--json"]);
    expect(json(out)).toMatchObject({ removed: [{ key: listed.signers[0].key }], revoked: [listed.signers[0].key] });
    const { err } = await desk.run(["trust", "add", "alice@example.org", "--key", alice.publicKey, "--json"]);
    expect(codeOf(err)).toMatchObject({ code: "TRUST_INVALID", message: expect.stringContaining("was revoked") });
  });

  it("is not read from a list that others may write", async () => {
    const alice = await key("alice");
    await desk.run(["trust", "add", "alice@example.org", "--key", alice.publicKey]);
    execFileSync("chmod", ["go+w", join(desk.home, ".config/nutshell/allowed_signers")]);
    const { path } = await stranger();
    await desk.run(["sign", path, "--key", alice.file]);
    const { code, err } = await desk.run(["inspect", path, "--json"]);
    expect(code).toBe(2);
    expect(codeOf(err).code).toBe("TRUST_INVALID");
  });
});

describe("the one question before a stranger's commands run", () => {
  it("says who signed, and is not asked for somebody who is trusted", async () => {
    const { path } = await stranger();
    const { ask, questions } = person(false);
    await desk.run(["accept", path], { ask });
    expect(questions[0]).toContain("signed: by nobody");
    const alice = await key("alice");
    await desk.run(["sign", path, "--key", alice.file]);
    await desk.run(["accept", path], { ask });
    expect(questions[1]).toMatch(/signed: key SHA256:\S+: nobody you trust has this key/);
    await desk.run(["trust", "add", "alice@example.org", "--key", alice.publicKey]);
    const { code, err } = await desk.run(["accept", path]);
    expect(err).toContain("runs what alice@example.org signed");
    expect(code).not.toBe(2);
    expect(questions).toHaveLength(2);
  });

  it("is asked when the manifest names another publisher than the one who signed", async () => {
    const { path } = await stranger("gzip", { name: "Bob", contact: "bob@example.org" });
    const alice = await key("alice");
    await desk.run(["sign", path, "--key", alice.file]);
    await desk.run(["trust", "add", "alice@example.org", "--key", alice.publicKey]);
    const { ask, questions } = person(false);
    await desk.run(["accept", path], { ask });
    expect(questions[0]).toContain("alice@example.org, but the manifest names bob@example.org as publisher");
  });

  it("is not even asked where a policy says no, whoever says yes", async () => {
    const { path, folder } = await stranger();
    policy("version: 1\nrequests:\n  signers: [alice@example.org]\n");
    const { ask, questions } = person(true);
    for (const source of [path, folder]) {
      const { code, err } = await desk.run(["accept", source, "--yes", "--json"], {
        ask,
        env: { NUTCRACKER_CONSENT: "all" },
      });
      expect(code).toBe(2);
      expect(codeOf(err).code).toBe("POLICY_REFUSED");
    }
    expect(questions).toEqual([]);
    const alice = await key("alice");
    await desk.run(["sign", path, "--key", alice.file]);
    await desk.run(["trust", "add", "alice@example.org", "--key", alice.publicKey]);
    expect((await desk.run(["accept", path])).code).not.toBe(2);
    writeAttached(path, Buffer.alloc(0));
    expect((await desk.run(["accept", path])).code).toBe(2);
  });

  it("a policy that cannot be read stops everything", async () => {
    const { path } = await stranger();
    policy("version: 1\nrequest:\n  signers: [alice@example.org]\n");
    const { code, err } = await desk.run(["accept", path, "--yes", "--json"]);
    expect(code).toBe(2);
    expect(codeOf(err).code).toBe("POLICY_INVALID");
  });

  it("a policy of yours that others may write, or a link that leads nowhere, is not passed over", async () => {
    const { path } = await stranger();
    policy("version: 1\ndeliveries:\n  believe: [alice@example.org]\n");
    const own = join(desk.home, ".config/nutshell/policy.yml");
    chmodSync(own, 0o666);
    const open = await desk.run(["accept", path, "--yes", "--json"]);
    expect(codeOf(open.err)).toMatchObject({ code: "TRUST_INVALID", hint: `chmod go-w ${own}` });
    for (const name of ["policy.yml", "revoked_keys"]) {
      const link = join(desk.home, ".config/nutshell", name);
      rmSync(link, { force: true });
      symlinkSync(desk.path("nowhere"), link);
      await desk.run(["sign", path, "--key", (await key(`for-${name}`)).file]);
      const { code, err } = await desk.run(["accept", path, "--yes", "--json"]);
      expect(code, name).toBe(2);
      expect(codeOf(err).code, name).toBe("FILE_NOT_FOUND");
      rmSync(link);
    }
  });

  it("a folder keeps its digest beside a signature of its own", async () => {
    const { folder } = await stranger();
    const before = contentDigest(folder);
    const { out } = await desk.run(["sign", folder, "--key", (await key("alice")).file, "--json"]);
    expect(json(out).written).toBe(`${folder}.sigs`);
    expect(contentDigest(folder)).toBe(before);
  });
});
