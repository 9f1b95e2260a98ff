import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leaksIn, leakText } from "../../src/request/pack/leak-guard.js";
import { peerIdOf } from "../../src/vault/index.js";
import { Desk } from "./run.js";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.remove());

const put = (path: string, content: string | Buffer) => {
  mkdirSync(join(desk.dir, path, ".."), { recursive: true });
  writeFileSync(join(desk.dir, path), content);
};
const files = (dir = desk.root) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const token = `${"ghp"}_${"aB3dE6gH9jK2".repeat(3)}`;

describe("pack --peer", () => {
  const secretLine = "the content that nobody else may read";
  beforeEach(() => put("context/requirements.md", secretLine));

  it("seals for one peer, named by key or peer id, and leaves no readable copy", async () => {
    const { public_key: key } = JSON.parse(
      (await desk.run(["keygen", "--peer", "-o", desk.path("them.key"), "--json"])).out,
    );
    const peerId = peerIdOf(Buffer.from(key, "hex"));
    for (const peer of [key, peerId]) {
      const out = desk.path(`${peer.length}.nut`);
      const packed = await desk.run(["pack", "--peer", peer, "-o", out, "--json"]);
      expect(packed).toMatchObject({ code: 0 });
      expect(JSON.parse(packed.out)).toMatchObject({ sealed_for: peerId, bytes: readFileSync(out).length });
      expect(readFileSync(out).subarray(0, 4).toString("latin1")).toBe("NUT\x02");

      const target = desk.path(`unpacked-${peer.length}`);
      expect(await desk.run(["unpack", out, "-o", target])).toMatchObject({
        code: 2,
        err: expect.stringContaining("sealed for one peer"),
      });
      await desk.run(["keygen", "--peer", "-o", desk.path(`other-${peer.length}.key`)]);
      expect(
        await desk.run(["unpack", out, "-o", target, "--identity", desk.path(`other-${peer.length}.key`)]),
      ).toMatchObject({ code: 2, err: expect.stringContaining("for another peer, or was damaged") });
      expect((await desk.run(["unpack", out, "-o", target, "--identity", desk.path("them.key")])).code).toBe(0);
      expect(readFileSync(join(target, "context/requirements.md"), "utf8")).toBe(secretLine);
    }
    const readable = files().filter((path) => readFileSync(path).subarray(0, 4).toString("latin1") === "NUT\x01");
    expect(readable).toEqual([]);
  });

  it("opens with the default identity, also from standard input", async () => {
    const { peer_id: peer } = JSON.parse((await desk.run(["keygen", "--peer", "--json"])).out);
    await desk.run(["pack", "--peer", peer, "-o", desk.path("s.nut")]);
    const { main } = await import("../../src/cli/main.js");
    const { program } = await import("../../src/commands/nutshell/program.js");
    const { Readable, Writable } = await import("node:stream");
    const bytes = readFileSync(desk.path("s.nut"));
    for (const step of [1, 7, 5000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) =>
        bytes.subarray(i * step, (i + 1) * step),
      );
      const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() });
      const code = await main(program, ["unpack", "-", "-o", desk.path(`out-${step}`)], {
        cwd: desk.dir,
        env: desk.env,
        now: () => new Date(),
        signal: new AbortController().signal,
        stdin: () => Readable.from(pieces),
        stdout: sink(),
        stderr: sink(),
        ask: null,
      });
      expect(code, `step ${step}`).toBe(0);
    }
  });

  it("writes nothing for a peer that is none, and needs one to seal", async () => {
    const before = files();
    expect(await desk.run(["pack", "--peer", "12D3KooWnonsense", "-o", desk.path("x.nut")])).toMatchObject({ code: 2 });
    expect(await desk.run(["pack", "--encrypt", "-o", desk.path("x.nut")])).toMatchObject({
      code: 2,
      err: expect.stringContaining("none is named"),
    });
    expect(files()).toEqual(before);
  });
});

describe("leak guard", () => {
  const pack = (...flags: string[]) => desk.run(["pack", "-o", desk.path("out.nut"), ...flags]);

  it("refuses by file and line, masked, and leaves nothing behind", async () => {
    put("files/src/app.ts", `line one\nconst t = "${token}";\n`);
    put("files/.env", "A=1\n");
    const before = files();
    const refused = await pack();
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain("files/src/app.ts:2 github (ghp_…)");
    expect(refused.err).toContain("files/.env secret-file");
    expect(refused.err).toContain("--allow");
    expect(refused.err).not.toContain(token.slice(4));
    expect(files()).toEqual(before);
    const json = await pack("--json");
    expect(JSON.parse(json.err).error).toMatchObject({
      code: "LEAK_FOUND",
      data: { leaks: [{ path: "files/.env" }, { path: "files/src/app.ts", line: 2 }] },
    });
    expect(json.err).not.toContain(token.slice(4));
  });

  it("warns of what only a general name gives away, masked, and packs it", async () => {
    const drawn = "aB3dE6gH9jK2".repeat(2);
    put("files/src/app.ts", `line one\nsession_secret = "${drawn}";\n`);
    const packed = await pack();
    expect(packed).toMatchObject({ code: 0, err: expect.stringContaining("files/src/app.ts:2 assigned-secret") });
    expect(packed.err).not.toContain(drawn);
    expect(await leaksIn(desk.dir)).toEqual([]);
  });

  it("lets through what is allowed by name, and records it in the manifest", async () => {
    put("files/src/app.ts", `const t = "${token}";\n`);
    put("files/.env", "A=1\n");
    expect((await pack("--allow", "files/.env")).code).toBe(1);
    expect((await pack("--allow", "files/.env", "--allow", "./files/src/")).code).toBe(0);
    const { manifest } = JSON.parse((await desk.run(["inspect", desk.path("out.nut"), "--json"])).out);
    expect(manifest.extensions.leak_guard).toEqual({ allowed: ["files/.env", "files/src"] });
    expect(manifest.x_unknown).toEqual({ kept: true });
    expect(readFileSync(join(desk.dir, "nutshell.json"), "utf8")).not.toContain("leak_guard");
  });

  it("finds the vault's own values, in files and in the manifest, and says when it could not look", async () => {
    await desk.run(["keygen"]);
    const value = "an-ordinary-looking-value";
    await desk.run(["add-credential", "--name", "db", "--type", "token", "--expires", "7d", "--value-stdin"], {
      stdin: value,
    });
    put("files/notes.md", `first\nsecond ${value}\n`);
    const refused = await pack();
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('files/notes.md:2 vault-value (the value of "db")'),
    });
    expect(refused.err).not.toContain(value);
    const closed = await desk.run(["pack", "-o", desk.path("out.nut")], { env: { HOME: desk.path("nobody") } });
    expect(closed).toMatchObject({ code: 0, err: expect.stringContaining("its values were not looked for") });
    put("files/notes.md", "nothing");
    const path = join(desk.dir, "nutshell.json");
    writeFileSync(path, readFileSync(path, "utf8").replace("What to do", `What to do: ${value}`));
    expect(await pack()).toMatchObject({ code: 1, err: expect.stringContaining("nutshell.json:") });
  });

  it("never packs a key in use, whatever it is called", async () => {
    await desk.run(["keygen", "--peer", "-o", join(desk.dir, "notes.bin")]);
    expect(
      await desk.run(["pack", "-o", desk.path("out.nut")], { env: { CLAWNET_DATA_DIR: desk.path("none") } }),
    ).toMatchObject({ code: 0 });
    await desk.run(["keygen", "-o", join(desk.dir, "me.txt")]);
    expect(await pack()).toMatchObject({ code: 1, err: expect.stringContaining("me.txt:3 age (AGE-SECRET-KEY-1…)") });
    const named = await desk.run(["pack", "-o", desk.path("out.nut"), "--allow", "me.txt"], {
      env: { NUTSHELL_IDENTITY: join(desk.dir, "notes.bin") },
    });
    expect(named).toMatchObject({ code: 1, err: expect.stringContaining("notes.bin identity") });
  });

  it("serves those who report what they find, too", async () => {
    put("files/app.ts", `const t = "${token}";\n`);
    put("files/id_rsa", "x");
    expect((await leaksIn(desk.dir)).map(leakText)).toEqual([
      "files/app.ts:1 github (ghp_…)",
      "files/id_rsa secret-file (id_rsa)",
    ]);
    expect(await leaksIn(desk.dir, { allow: ["files"] })).toEqual([]);
  });

  it("refuses a vault in clear unless the risk is named", async () => {
    await desk.run(
      ["add-credential", "--name", "db", "--type", "token", "--encryption", "none", "--expires", "7d", "--value-stdin"],
      { stdin: "value-in-clear" },
    );
    expect(await pack()).toMatchObject({ code: 2, err: expect.stringContaining("--plain-vault") });
    expect((await pack("--plain-vault")).code).toBe(0);
    put("files/copy.md", "value-in-clear");
    expect((await pack("--plain-vault")).code).toBe(1);
  });
});

describe("delivery", () => {
  it("names the credentials that were handed out", async () => {
    await desk.run(["keygen"]);
    await desk.run(["add-credential", "--name", "db", "--type", "token", "--expires", "7d", "--value-stdin"], {
      stdin: "value-of-db",
    });
    await desk.run(["exec", "--with", "db", "--purpose", "migrate", "--", "true"]);
    const path = join(desk.dir, "nutshell.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(
      path,
      JSON.stringify({
        ...manifest,
        bundle_type: "delivery",
        request_id: "nut-1",
        execution_log: { strategy_used: "one-shot" },
      }),
    );
    expect((await desk.run(["pack", "-o", desk.path("d.nut"), "--force"])).code).toBe(0);
    const packed = JSON.parse((await desk.run(["inspect", desk.path("d.nut"), "--json"])).out).manifest;
    expect(packed.execution_log).toEqual({
      strategy_used: "one-shot",
      credentials_used: [{ name: "db", at: "2026-03-14T10:00:00Z", purpose: "migrate" }],
    });
  });
});
