// Bundles in a registry that has all of the distribution protocol 1.1, and in one that lies, breaks and wants to know who asks.
// Long because: every way a registry can behave is tried on one double and one bundle.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { packFolder, readAttached } from "../../src/bundle/index.js";
import { findLogin } from "../../src/registry/index.js";
import { Desk } from "../vault/run.js";
import { type LogRow, type RegistryDouble, startDouble } from "./double.js";

const DEFAULTS = {
  referrers: true,
  page: 100,
  auth: null,
  redirect: false,
  uploadElsewhere: false,
  mounts: true,
  ranges: true,
  minChunk: 0,
  visitors: false,
  faults: [],
};
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

let desk: Desk;
let double: RegistryDouble;
let file: string;
let count = 0;

beforeAll(async () => {
  double = await startDouble();
  desk = new Desk();
  file = desk.path("task.nut");
  writeFileSync(join(desk.dir, "noise.bin"), randomBytes(300_000));
  await packFolder(desk.dir, { output: file });
  for (const name of ["alice", "bob", "carol"]) {
    await desk.run(["keygen", "--peer", "-o", desk.path(`${name}.key`)]);
    await desk.run(["sign", file, "--key", desk.path(`${name}.key`)]);
  }
});
afterAll(async () => {
  await double.stop();
  desk.remove();
});
beforeEach(async () => {
  count += 1;
  await double.set({ ...DEFAULTS, faults: [] });
  await double.log();
});

const at = (place = `team/task${count}:v1`) => `oci://${double.host}/${place}`;
const output = () => desk.path(`pulled${count}.nut`);
const faults = (...rows: object[]) => double.set({ faults: rows });
const json = async (...argv: string[]) => {
  const { code, out, err } = await desk.run([...argv, "--json"]);
  expect(err).toBe("");
  expect(code).toBe(0);
  return JSON.parse(out);
};
const refusal = async (...argv: string[]) => {
  const { code, err } = await desk.run([...argv, "--json"]);
  expect(code).toBe(2);
  return JSON.parse(err.slice(err.indexOf('{"error"'))).error as { code: string; message: string };
};
const same = () => readFileSync(output()).equals(readFileSync(file));
const leftovers = () => readdirSync(desk.root).filter((name) => name.includes(`pulled${count}`));
const pull = () => json("pull", at(), "-o", output());
const of = (rows: readonly LogRow[], method: string, part: string) =>
  rows.filter((row) => row.method === method && row.url?.includes(part) === true);

describe("a registry of OCI 1.1", () => {
  it("keeps signatures as referrers, without a tag for them, page by page", async () => {
    await double.set({ page: 1 });
    expect(await json("push", file, at())).toMatchObject({ uploaded: true, signatures: 3 });
    expect(await pull()).toMatchObject({ signatures: 3 });
    expect(same()).toBe(true);
    expect(of(await double.log(), "PUT", "manifests/sha256-")).toEqual([]);
    expect(await json("tags", at())).toEqual({ tags: ["v1"] });
    expect((await json("log", at(`team/task${count}`))).tasks).toMatchObject([
      { title: "A task", asked: [{ standing: "unknown" }, { standing: "unknown" }, { standing: "unknown" }] },
    ]);
  });

  it("lists signatures under a tag where it has no referrers API, and takes what is there to be no list for none", async () => {
    await double.set({ referrers: false });
    const { digest } = await json("push", file, at());
    expect(of(await double.log(), "PUT", `manifests/${digest.replace(":", "-")}`)).toHaveLength(1);
    expect(await pull()).toMatchObject({ signatures: 3 });
    const tag = digest.replace(":", "-");
    await double.put({ repository: `team/task${count}`, tag, text: '{"not":"an index"}', type: "text/plain" });
    count += 1;
    expect(await json("pull", at(`team/task${count - 1}:v1`), "-o", output())).toMatchObject({ signatures: 0 });
    expect((await refusal("push", file, at(`team/task${count - 1}:v1`))).code).toBe("REGISTRY_BAD_ANSWER");
  });

  it("shows its tags page by page", async () => {
    await double.set({ page: 2 });
    for (const tag of ["a", "b", "c", "d", "e"]) await json("push", file, at(`team/tags:${tag}`));
    expect(await json("tags", at("team/tags"))).toEqual({ tags: ["a", "b", "c", "d", "e"] });
  });

  it("shares blobs between repositories, and is sent them where it does not", async () => {
    await json("push", file, at());
    expect(await json("copy", at(), at(`other/task${count}:v1`))).toMatchObject({ how: "mounted", signatures: 3 });
    await double.set({ mounts: "lie" });
    expect(await json("copy", at(), at(`liar/task${count}:v1`))).toMatchObject({ how: "sent", signatures: 3 });
    await double.set({ mounts: false });
    expect(await json("copy", at(), at(`third/task${count}:v1`))).toMatchObject({ how: "sent", signatures: 3 });
    expect(await json("copy", at(), at(`third/task${count}:v2`))).toMatchObject({ how: "present" });
    const { digest } = await json("pull", at(`third/task${count}:v2`), "-o", output());
    expect((await refusal("copy", at(), at(`x/y@sha256:${"0".repeat(64)}`))).code).toBe("REGISTRY_BAD_ADDRESS");
    expect(await json("copy", at(), at(`x/y@${digest}`))).toMatchObject({ digest });
    expect((await refusal("push", file, at(`x/y@${digest}`))).code).toBe("REGISTRY_BAD_ADDRESS");
  });
});

it("a large bundle is sent while its digest is made, and given up where it turns out to be there", async () => {
  const folder = desk.folder(desk.path("large"));
  writeFileSync(join(folder, "noise.bin"), randomBytes(17 * 1024 ** 2));
  const large = desk.path("large.nut");
  await packFolder(folder, { output: large, compression: "none" });
  expect(await json("push", large, at())).toMatchObject({ uploaded: true });
  const ranges = of(await double.log(), "PATCH", "/blobs/uploads/").map(({ contentRange }) => contentRange);
  expect(ranges).toEqual([`0-${readFileSync(large).length - 1}`]);
  await json("pull", at(), "-o", output());
  expect(readFileSync(output()).equals(readFileSync(large))).toBe(true);
  await double.log();
  // By the same name nothing is sent at all; by another, a little at most.
  expect(await json("push", large, at())).toMatchObject({ uploaded: false });
  expect(of(await double.log(), "POST", "/blobs/uploads/")).toEqual([]);
  expect(await json("push", large, at(`team/task${count}:v2`))).toMatchObject({ uploaded: false });
  const again = await double.log();
  expect(of(again, "PUT", "/blobs/uploads/")).toEqual([]);
  expect(of(again, "DELETE", "/blobs/uploads/")).toHaveLength(1);
});

it("nothing is entered of a bundle that is damaged, and nothing is sent of what is none", async () => {
  const damaged = desk.path("damaged.nut");
  const bytes = readFileSync(file);
  bytes[150_000]! ^= 1;
  writeFileSync(damaged, bytes);
  expect((await refusal("push", damaged, at())).code).toMatch(/^BUNDLE_/);
  expect(of(await double.log(), "PUT", "manifests")).toEqual([]);
  writeFileSync(desk.path("noise.nut"), "not a bundle");
  expect((await refusal("push", desk.path("noise.nut"), at())).code).toBe("BUNDLE_BAD_MAGIC");
  expect((await refusal("push", desk.dir, at())).code).toBe("USAGE");
  expect(await double.log()).toEqual([]);
});

describe("broken connections", () => {
  it("an upload goes on where it was cut", async () => {
    await faults({ method: "PATCH", cut: 100_000 }, { method: "PATCH", cut: 50_000 });
    expect(await json("push", file, at())).toMatchObject({ uploaded: true });
    const size = readAttached(file).archiveBytes;
    expect(of(await double.log(), "PATCH", "uploads").map(({ contentRange }) => contentRange)).toEqual([
      `0-${size - 1}`,
      `100000-${size - 1}`,
      `150000-${size - 1}`,
    ]);
    await pull();
    expect(same()).toBe(true);
  });

  it("an upload whose session is forgotten begins again, and one whose last answer is lost is done", async () => {
    await faults({ method: "PATCH", cut: 100_000, forget: true });
    expect(await json("push", file, at())).toMatchObject({ uploaded: true });
    count += 1;
    await faults({ method: "PUT", path: "uploads", silent: true, times: 2 });
    await json("push", file, at());
    await pull();
    expect(same()).toBe(true);
  });

  it("an upload that is ahead of what the registry holds asks how far it is", async () => {
    await faults({ method: "PATCH", status: 416 });
    await json("push", file, at());
    await pull();
    expect(same()).toBe(true);
  });

  it("a download goes on where it was cut, and begins again where the registry cannot", async () => {
    await json("push", file, at());
    await faults({ method: "GET", path: "blobs", cut: 70_000 }, { method: "GET", path: "blobs", cut: 20_000 });
    await double.log();
    await pull();
    expect(same()).toBe(true);
    expect(
      of(await double.log(), "GET", "/blobs/sha256")
        .map(({ range }) => range)
        .slice(0, 3),
    ).toEqual([null, "bytes=70000-", "bytes=90000-"]);
    count += 1;
    await double.set({ ranges: false, faults: [{ method: "GET", path: "blobs", cut: 70_000 }] });
    await json("pull", at(`team/task${count - 1}:v1`), "-o", output());
    expect(same()).toBe(true);
  });

  it("a download that never ends well is given up and leaves nothing", async () => {
    await json("push", file, at());
    await faults({ method: "GET", path: "blobs", cut: 1_000, times: 100 });
    expect((await refusal("pull", at(), "-o", output())).code).toBe("REGISTRY_UNREACHABLE");
    expect(leftovers()).toEqual([]);
  });

  it("a connection that is gone when it is used again is opened anew", async () => {
    await json("push", file, at());
    await faults({ method: "GET", path: "manifests", drop: true, times: 2 });
    expect(await pull()).toMatchObject({ signatures: 3 });
  });
});

describe("a busy registry", () => {
  it("is waited for as it says, and not for hours", async () => {
    await faults(
      { method: "HEAD", status: 429, headers: { "Retry-After": "0" }, times: 2 },
      { method: "POST", status: 503, headers: { "Retry-After": new Date(0).toUTCString() } },
    );
    expect(await json("push", file, at())).toMatchObject({ uploaded: true });
    await faults({ method: "GET", status: 429, headers: { "Retry-After": "3600" } });
    expect((await refusal("pull", at(), "-o", output())).message).toContain("asks to come back in 3600 seconds");
    await faults({ method: "GET", status: 429, headers: { "Retry-After": "0" }, times: 100 });
    expect((await refusal("pull", at(), "-o", output())).code).toBe("REGISTRY_REFUSED");
  });
});

/** A disk of 200 kB, where this account may make one; null elsewhere. */
function smallDisk(): { path: string; remove: () => void } | null {
  const path = mkdtempSync(join(tmpdir(), "nut-small-disk-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=200k", "tmpfs", path]).status === 0;
  if (!isMounted) rmSync(path, { recursive: true });
  const remove = () => {
    spawnSync("umount", [path]);
    rmSync(path, { recursive: true });
  };
  return isMounted ? { path, remove } : null;
}

it("a disk that is full during a download is said to be, and nothing is left on it", async ({ skip }) => {
  const disk = smallDisk();
  if (disk === null) return skip("only root may mount a small disk");
  try {
    await json("push", file, at());
    expect(await refusal("pull", at(), "-o", join(disk.path, "x.nut"))).toMatchObject({ code: "DISK_FULL" });
    expect(readdirSync(disk.path)).toEqual([]);
  } finally {
    disk.remove();
  }
});

it("a tag is asked for once, and what moves it changes nothing of what its digest names", async () => {
  const other = desk.path("other.nut");
  await packFolder(desk.folder(desk.path(`other${count}`)), { output: other });
  const first = await json("push", file, at());
  await double.log();
  await pull();
  expect(of(await double.log(), "GET", "manifests/v1")).toHaveLength(1);
  await json("copy", at(), at(`copies/task${count}:v1`));
  expect(of(await double.log(), "GET", `team/task${count}/manifests/v1`)).toHaveLength(1);
  await json("push", other, at());
  const moved = desk.path(`pulled${count}-moved.nut`);
  expect(await json("pull", at(), "-o", moved)).toMatchObject({ signatures: 0 });
  expect(readFileSync(moved).equals(readFileSync(other))).toBe(true);
  const fixed = desk.path(`pulled${count}-fixed.nut`);
  expect(await json("pull", at(`team/task${count}@${first.digest}`), "-o", fixed)).toMatchObject({ signatures: 3 });
  expect(readFileSync(fixed).equals(readFileSync(file))).toBe(true);
});

it("bytes are wanted as they are, and what comes in a coding all the same is not believed", async () => {
  await json("push", file, at());
  await faults({ method: "GET", path: "blobs|manifests", times: 100, gzip: "asked" });
  await pull();
  expect(same()).toBe(true);
  for (const path of ["blobs", "manifests"]) {
    await faults({ method: "GET", path, times: 100, gzip: "always" });
    const target = desk.path(`coded${count}.nut`);
    expect((await refusal("pull", at(), "-o", target)).code).toBe("REGISTRY_BAD_ANSWER");
    expect(readdirSync(desk.root).filter((name) => name.includes(`coded${count}`))).toEqual([]);
  }
});

describe("a lying registry", () => {
  it.each([
    ["other bytes", { flip: 5_000 }],
    ["more bytes than it said", { more: 1_000 }],
  ])("that sends %s is not believed, and nothing is left", async (_name, fault) => {
    await json("push", file, at());
    await faults({ method: "GET", path: "blobs", times: 100, ...fault });
    expect((await refusal("pull", at(), "-o", output())).code).toBe("REGISTRY_BAD_ANSWER");
    expect(leftovers()).toEqual([]);
  });

  const layer = (more: object = {}) => ({
    mediaType: "application/vnd.nutshell.bundle.layer.v1.tar+gzip",
    digest: `sha256:${"1".repeat(64)}`,
    size: 10,
    ...more,
  });
  const manifest = (more: object) => JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, ...more });
  it.each<readonly [string, string, string]>([
    ["what is no JSON", "not json", "REGISTRY_BAD_ANSWER"],
    [
      "an image",
      manifest({ layers: [layer({ mediaType: "application/vnd.oci.image.layer.v1.tar" })] }),
      "REGISTRY_BAD_ANSWER",
    ],
    ["two layers", manifest({ layers: [layer(), layer()] }), "REGISTRY_BAD_ANSWER"],
    [
      "a manifest of another type",
      JSON.stringify({ schemaVersion: 2, mediaType: "x/y", layers: [layer()] }),
      "REGISTRY_BAD_ANSWER",
    ],
    ["a layer that is not there", manifest({ layers: [layer()] }), "REGISTRY_REFUSED"],
    ["a layer of petabytes", manifest({ layers: [layer({ size: 2 ** 50 })] }), "BUNDLE_LIMIT"],
    [
      "a digest that is a path",
      manifest({ layers: [layer({ digest: "sha256:../../../v2/x" })] }),
      "REGISTRY_BAD_ANSWER",
    ],
  ])("that holds %s gives no bundle", async (_name, text, code) => {
    await double.put({ repository: `team/task${count}`, tag: "v1", text, type: MANIFEST });
    expect((await refusal("pull", at(), "-o", output())).code).toBe(code);
    expect(leftovers()).toEqual([]);
    expect((await refusal("log", at())).code).toBe(code);
  });

  it("that answers with more than any manifest has, or with another than was asked for, is not believed", async () => {
    const { digest } = await json("push", file, at());
    await faults({ method: "GET", path: "manifests", huge: 5 * 1024 * 1024 });
    expect((await refusal("pull", at(), "-o", output())).code).toBe("REGISTRY_BAD_ANSWER");
    await faults({ method: "GET", path: "manifests", replace: manifest({ layers: [layer()] }) });
    const other = await refusal("pull", at(`team/task${count}@${digest}`), "-o", output());
    expect(other.message).toContain(`the manifest is not ${digest}`);
  });

  it("that names other addresses for a layer is asked itself", async () => {
    await json("push", file, at());
    const size = readAttached(file).archiveBytes;
    const digest = `sha256:${(await import("node:crypto")).createHash("sha256").update(readFileSync(file).subarray(0, size)).digest("hex")}`;
    const text = manifest({ layers: [layer({ digest, size, urls: [`http://${double.storage}/data/${digest}`] })] });
    await double.put({ repository: `team/task${count}`, tag: "v1", text, type: MANIFEST });
    await double.log();
    await pull();
    expect((await double.log()).filter(({ on }) => on === "storage")).toEqual([]);
  });

  it("with worthless signatures beside good ones gives the good ones", async () => {
    const { digest } = await json("push", file, at());
    const subject = { mediaType: MANIFEST, digest, size: 1 };
    const row = {
      schemaVersion: 2,
      mediaType: MANIFEST,
      artifactType: "application/vnd.nutshell.statement.v1",
      subject,
    };
    const bad = [{}, { layers: [layer({ mediaType: "application/vnd.dsse.envelope.v1+json" })] }, { layers: [] }];
    for (const more of bad) {
      await double.put({ repository: `team/task${count}`, text: JSON.stringify({ ...row, ...more }), type: MANIFEST });
    }
    expect(await pull()).toMatchObject({ signatures: 3 });
  });

  it("that leads round in circles, or to where nobody should be led, is not followed", async () => {
    await json("push", file, at());
    const lead = async (location: string) => {
      await faults({ method: "GET", path: "blobs", status: 307, headers: { Location: location }, times: 100 });
      const { code } = await refusal("pull", at(), "-o", output());
      return code;
    };
    for (const location of ["", "http://registry.example.org/x", "file:///etc/passwd", "http://[bad"]) {
      expect(await lead(location === "" ? `http://${double.host}/v2/a/blobs/b` : location), location).toBe(
        "REGISTRY_BAD_ANSWER",
      );
    }
  });
});

describe("a registry that wants to know who asks", () => {
  const login = (config: object) => {
    mkdirSync(join(desk.home, ".docker"), { recursive: true });
    writeFileSync(join(desk.home, ".docker/config.json"), JSON.stringify(config));
  };
  const auth = Buffer.from("user:secret").toString("base64");
  afterEach(() => login({}));

  it("by password: refuses visitors and wrong ones, which are not shown", async () => {
    await double.set({ auth: "basic" });
    expect((await refusal("push", file, at())).code).toBe("REGISTRY_DENIED");
    login({ auths: { [double.host]: { auth: Buffer.from("user:wrong").toString("base64") } } });
    const denied = await refusal("push", file, at());
    expect(denied.code).toBe("REGISTRY_DENIED");
    expect(JSON.stringify(denied)).not.toMatch(/wrong|dXNlcjp3cm9uZw/);
    login({ auths: { [double.host]: { auth } } });
    await json("push", file, at());
    expect(await pull()).toMatchObject({ signatures: 3 });
  });

  it("by a token for just what is done, fetched with a password, a refresh token, or as a visitor", async () => {
    await double.set({ auth: "bearer" });
    login({ auths: { [double.host]: { auth } } });
    await json("push", file, at());
    await json("copy", at(), at(`other/task${count}:v1`));
    const scopes = (await double.log()).flatMap(({ scope }) => scope ?? []);
    expect(scopes).toContain(`repository:team/task${count}:pull,push`);
    expect(scopes).toContain(`repository:team/task${count}:pull`);
    login({ auths: { [double.host]: { identitytoken: "secret" } } });
    expect(await pull()).toMatchObject({ signatures: 3 });
    count += 1;
    login({});
    await double.set({ visitors: true });
    expect(await json("pull", at(`team/task${count - 1}:v1`), "-o", output())).toMatchObject({ signatures: 3 });
  });

  it("in several ways at once", async () => {
    await double.set({ auth: "both" });
    login({ auths: { [double.host]: { auth } } });
    expect(await json("push", file, at())).toMatchObject({ uploaded: true });
  });

  it("tells its name to no other host, for blobs that come from or go to one", async () => {
    await double.set({ auth: "basic", redirect: true, uploadElsewhere: true });
    login({ auths: { [double.host]: { auth } } });
    await json("push", file, at());
    await pull();
    expect(same()).toBe(true);
    const rows = await double.log();
    const elsewhere = rows.filter(({ on }) => on === "storage");
    expect(new Set(elsewhere.map(({ method }) => method))).toEqual(new Set(["PATCH", "PUT", "GET"]));
    expect(elsewhere.filter(({ authorization }) => authorization !== null)).toEqual([]);
    expect(rows.some(({ on, authorization }) => on === "registry" && authorization !== null)).toBe(true);
  });

  it("sends nobody's password where plain text can be read on the way", async () => {
    login({ auths: { [double.host]: { auth } } });
    for (const realm of ["http://registry.example.org/token", "file:///token", "nowhere"]) {
      await double.set({ auth: `Bearer realm="${realm}",service="x"` });
      expect((await refusal("push", file, at())).code, realm).toBe("REGISTRY_DENIED");
    }
  });

  describe("through a credential helper", () => {
    const helper = (script: string) => {
      const path = desk.path("bin/docker-credential-test");
      mkdirSync(desk.path("bin"), { recursive: true });
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
    };
    const env = () => ({ HOME: desk.home, PATH: `${desk.path("bin")}:${process.env.PATH}` });
    const push = async () => {
      const { code, err } = await desk.run(["push", file, at(), "--json"], { env: env() });
      return { code, err };
    };

    it.each(["credHelpers", "credsStore"])("named in %s", async (field) => {
      await double.set({ auth: "basic" });
      helper('read host; echo "$host" > "$HOME/asked"; echo "{\\"Username\\":\\"user\\",\\"Secret\\":\\"secret\\"}"');
      login(field === "credsStore" ? { credsStore: "test" } : { credHelpers: { [double.host]: "test" } });
      expect(await push()).toEqual({ code: 0, err: "" });
      expect(readFileSync(join(desk.home, "asked"), "utf8")).toBe(`${double.host}\n`);
    });

    it.each<readonly [string, string, string]>([
      ["that knows nothing of the host", "echo credentials not found; exit 1", "does not let you do this"],
      ["that says nonsense", "echo secret nonsense", "docker-credential-test gave no login"],
      ["that says nothing", "true", "docker-credential-test gave no login"],
    ])("%s", async (_name, script, message) => {
      await double.set({ auth: "basic" });
      helper(script);
      login({ credsStore: "test" });
      const { code, err } = await push();
      expect(code).toBe(2);
      expect(err).toContain(message);
      expect(err).not.toContain("secret");
    });

    it("that is not there, has no proper name or never answers", async () => {
      await double.set({ auth: "basic" });
      login({ credsStore: "absent" });
      expect((await push()).err).toContain("docker-credential-absent is not installed");
      login({ credsStore: "../../bin/sh" });
      expect((await push()).err).toContain("names no proper credential helper");
      helper("exec sleep 60");
      login({ credsStore: "test" });
      const slow = findLogin(double.host, { env: env(), cwd: desk.dir, helperTimeoutMs: 300 });
      await expect(slow).rejects.toThrow("docker-credential-test gave no answer for 0.3 seconds");
    });
  });
});
