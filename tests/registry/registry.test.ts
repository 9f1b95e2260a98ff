// Bundles in Debian's docker-registry, read back by skopeo.
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packFolder, readAttached } from "../../src/bundle/index.js";
import { Desk } from "../vault/run.js";
import { hasRegistry, hasSkopeo, type Running, startRegistry } from "./docker-registry.js";

const json = (text: string) => JSON.parse(text);

describe.skipIf(!hasRegistry)("docker-registry", () => {
  let desk: Desk;
  let registry: Running;
  let file: string;
  beforeAll(async () => {
    desk = new Desk();
    registry = await startRegistry(desk.path("registry"));
    file = desk.path("task.nut");
    await packFolder(desk.dir, { output: file });
    for (const name of ["alice", "bob"]) await desk.run(["keygen", "--peer", "-o", desk.path(`${name}.key`)]);
    await desk.run(["sign", file, "--key", desk.path("alice.key")]);
  });
  afterAll(async () => {
    await registry.stop();
    desk.remove();
  });
  const at = (place: string) => `oci://${registry.host}/${place}`;

  it("takes a bundle with its signature, and gives both back", async () => {
    const pushed = json((await desk.run(["push", file, at("team/task:v1"), "--json"])).out);
    expect(pushed).toMatchObject({ uploaded: true, signatures: 1 });
    const again = json((await desk.run(["push", file, at("team/task:v1"), "--json"])).out);
    expect(again).toMatchObject({ uploaded: false, digest: pushed.digest });
    const output = desk.path("pulled.nut");
    const { code, out } = await desk.run(["pull", at("team/task:v1"), "-o", output, "--json"]);
    expect(code).toBe(0);
    expect(json(out)).toMatchObject({ digest: pushed.digest, signatures: 1 });
    expect(readFileSync(output).equals(readFileSync(file))).toBe(true);
    expect((await desk.run(["pull", at("team/task:v1"), "-o", output])).code).toBe(2);
    expect(json((await desk.run(["tags", at("team/task"), "--json"])).out)).toEqual({ tags: ["v1"] });
  });

  it("takes a large bundle as it is, without a word about its content", async () => {
    const folder = desk.folder(desk.path("large"));
    writeFileSync(join(folder, "noise.bin"), randomBytes(65 * 1024 ** 2));
    const large = desk.path("large.nut");
    await packFolder(folder, { output: large, compression: "none" });
    const { code, out } = await desk.run(["push", large, at("team/large:v1"), "--json"]);
    expect([code, json(out)]).toMatchObject([0, { uploaded: true, content_digest: null }]);
    const output = desk.path("large-pulled.nut");
    expect((await desk.run(["pull", at("team/large:v1"), "-o", output])).code).toBe(0);
    expect(readFileSync(output).equals(readFileSync(large))).toBe(true);
  });

  it("gives a name to one of two who pull at once", async () => {
    await desk.run(["push", file, at("team/race:v1")]);
    const pull = () => desk.run(["pull", at("team/race:v1"), "-o", desk.path("race.nut"), "--json"]);
    const both = await Promise.all([pull(), pull()]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 2]);
    expect(both.find(({ code }) => code === 2)?.err).toContain("FILE_EXISTS");
    expect(readdirSync(desk.root).filter((name) => name.includes("race.nut"))).toEqual(["race.nut"]);
  });

  it("takes a second signature without the bundle being sent again", async () => {
    await desk.run(["sign", file, "--key", desk.path("bob.key")]);
    const { out } = await desk.run(["push", file, at("team/task:v1"), "--json"]);
    expect(json(out)).toMatchObject({ uploaded: false, signatures: 2 });
    const output = desk.path("two.nut");
    await desk.run(["pull", at("team/task:v1"), "-o", output]);
    expect(json((await desk.run(["inspect", output, "--json"])).out).signatures).toHaveLength(2);
  });

  it("shares the archive between repositories instead of taking it twice", async () => {
    const { out } = await desk.run(["copy", at("team/task:v1"), at("other/task:v2"), "--json"]);
    expect(json(out)).toMatchObject({ how: "mounted", signatures: 2 });
    expect((await desk.run(["pull", at("other/task:v2"), "-o", desk.path("other.nut")])).code).toBe(0);
  });

  it.skipIf(!hasSkopeo)("gives skopeo the archive, byte for byte", () => {
    const folder = desk.path("skopeo");
    mkdirSync(folder);
    const source = `docker://${registry.host}/team/task:v1`;
    execFileSync("skopeo", ["--insecure-policy", "copy", "--src-tls-verify=false", source, `dir:${folder}`], {
      stdio: "ignore",
    });
    const archive = readFileSync(file).subarray(0, readAttached(file).archiveBytes);
    const digest = createHash("sha256").update(archive).digest("hex");
    expect(readdirSync(folder)).toContain(digest);
    expect(readFileSync(join(folder, digest)).equals(archive)).toBe(true);
  });

  it("says what is not there, and what is no address", async () => {
    const none = await desk.run(["pull", at("team/none:v1"), "--json"]);
    expect(none.err).toContain("REGISTRY_NOT_FOUND");
    for (const place of ["registry/task", "oci://host", "oci://host/UPPER:v1", "oci://host/a/../b:v1"]) {
      const { code, err } = await desk.run(["push", file, place, "--json"]);
      expect(code).toBe(2);
      expect(err, place).toContain("REGISTRY_BAD_ADDRESS");
    }
  });

  it("leaves nothing when what it holds was changed", async () => {
    const digest = json((await desk.run(["push", file, at("team/bad:v1"), "--json"])).out).digest;
    const archive = readFileSync(file).subarray(0, readAttached(file).archiveBytes);
    const hex = createHash("sha256").update(archive).digest("hex");
    const blob = desk.path(`registry/data/docker/registry/v2/blobs/sha256/${hex.slice(0, 2)}/${hex}/data`);
    const bad = Buffer.from(archive);
    bad[bad.length - 1]! ^= 1;
    writeFileSync(blob, bad);
    const output = desk.path("bad.nut");
    const { code, err } = await desk.run(["pull", at("team/bad:v1"), "-o", output, "--json"]);
    expect(code).toBe(2);
    expect(err).toContain("REGISTRY_BAD_ANSWER");
    expect(readdirSync(desk.root).filter((name) => name.includes("bad.nut"))).toEqual([]);
    expect(digest).toMatch(/^sha256:/);
  });
});

describe.skipIf(!hasRegistry)("docker-registry with passwords", () => {
  it("is told who asks by Docker's configuration, and refuses everybody else", async () => {
    const desk = new Desk();
    // user:secret, as htpasswd -B writes it.
    const line = "user:$2y$05$9XU2EfiWsC0VEcVhJ4r.I.nUzT0BIHhkIl0FqVEVbLkDXXm6Q9cUS";
    const registry = await startRegistry(desk.path("registry"), `${line}\n`);
    try {
      const file = desk.path("task.nut");
      await packFolder(desk.dir, { output: file });
      const target = `oci://${registry.host}/task:v1`;
      const { code, err } = await desk.run(["push", file, target, "--json"]);
      expect(code).toBe(2);
      expect(err).toContain("REGISTRY_DENIED");
      mkdirSync(join(desk.home, ".docker"));
      const auth = Buffer.from("user:wrong").toString("base64");
      writeFileSync(join(desk.home, ".docker/config.json"), JSON.stringify({ auths: { [registry.host]: { auth } } }));
      const wrong = await desk.run(["push", file, target, "--json"]);
      expect(wrong.err).toContain("REGISTRY_DENIED");
      expect(wrong.err).not.toContain(auth);
    } finally {
      await registry.stop();
      desk.remove();
    }
  });
});
