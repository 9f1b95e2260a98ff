// The chain of a task, as `nutshell log` shows it: never wrong about who.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packFolder } from "../../src/bundle/index.js";
import type { Envelope } from "../../src/schema/statement.js";
import { formatEnvelopes, signStatement, verdictStatement } from "../../src/statements/index.js";
import { Desk, NOW } from "../vault/run.js";
import { ownKey } from "./keys.js";

let desk: Desk;
const [alice, bob, carol, mallory] = [ownKey(), ownKey(), ownKey(), ownKey()];
const RESULT = `sha256:${"e".repeat(64)}`;
const TESTS = `sha256:${"f".repeat(64)}`;
const ID = "nut-00000000-0000-4000-8000-000000000001";

beforeEach(() => {
  desk = new Desk();
  mkdirSync(desk.path("bundles"));
  const lines = Object.entries({ alice, bob, carol }).map(([name, { line }]) => `${name}@example.org ${line}\n`);
  mkdirSync(join(desk.home, ".config/nutshell"), { recursive: true });
  writeFileSync(join(desk.home, ".config/nutshell/allowed_signers"), lines.join(""), { mode: 0o600 });
});
afterEach(() => desk.remove());

const nut = (name: string) => desk.path("bundles", `${name}.nut`);
const beside = (name: string, envelopes: readonly Envelope[]) =>
  writeFileSync(`${nut(name)}.sigs`, formatEnvelopes(envelopes));

async function request(name = "task", more: Record<string, unknown> = {}) {
  const folder = desk.folder(desk.path(`${name}-folder`), more);
  const { contentDigest: digest } = await packFolder(folder, { output: nut(name) });
  return { digest, id: (more.id as string | undefined) ?? ID };
}

async function delivery(name: string, answered: { digest?: string; id?: string }, status = "completed") {
  const folder = desk.folder(desk.path(`${name}-folder`), {
    bundle_type: "delivery",
    id: "nut-00000000-0000-4000-8000-000000000002",
    request_id: answered.id,
  });
  mkdirSync(join(folder, "delivery"));
  const digests = { request: answered.digest, result: RESULT, tests: TESTS };
  writeFileSync(join(folder, "delivery/result.json"), JSON.stringify({ status, request_id: answered.id, digests }));
  const { contentDigest: digest } = await packFolder(folder, { output: nut(name) });
  return { digest, id: "nut-00000000-0000-4000-8000-000000000002", folder };
}

interface Said {
  readonly made: { readonly digest: string; readonly id: string };
  readonly asked: { readonly digest: string; readonly id: string };
  readonly result?: "PASSED" | "FAILED";
  readonly platform?: string;
}

const verdict = ({ made, asked, result = "PASSED", platform = "linux-x64" }: Said) =>
  verdictStatement({
    bundle: made,
    request: asked,
    at: new Date(NOW.getTime() + 60_000),
    platform,
    result,
    passed: ["AC-1"],
    failed: [],
    acceptance: { sandboxed: true, passed: 1, failed: 0 },
    hidden: null,
    digests: { result: RESULT, tests: TESTS },
  });

async function key(name: string) {
  await desk.run(["keygen", "--peer", "-o", desk.path(`${name}.key`)]);
  const own = await desk.run(["trust", "add", `${name}@example.org`, "--key", await publicKey(name)]);
  expect(own.code).toBe(0);
  return desk.path(`${name}.key`);
}
async function publicKey(name: string): Promise<string> {
  return readFileSync(desk.path(`${name}.key`))
    .subarray(32)
    .toString("hex");
}

const log = async (...argv: string[]) => {
  const { code, out, err } = await desk.run(["log", ...argv, "--json"]);
  expect(err).toBe("");
  expect(code).toBe(0);
  return JSON.parse(out);
};
const text = async (...argv: string[]) => (await desk.run(["log", ...argv])).out;

describe("nutshell log", () => {
  it("tells who asked, made and checked, from a folder of bundles", async () => {
    const asked = await request();
    await desk.run(["sign", nut("task"), "--key", await key("dave")]);
    const made = await delivery("done", asked);
    await desk.run(["sign", nut("done"), "--key", await key("erin")]);
    beside("done", [await signStatement(verdict({ made, asked }), carol.sign)]);
    const { tasks, unread } = await log(desk.path("bundles"));
    expect(unread).toEqual([]);
    expect(tasks).toMatchObject([
      {
        title: "A task",
        content_digest: asked.digest,
        asked: [{ standing: "trusted", principals: ["dave@example.org"], signed_on: NOW.toISOString() }],
        deliveries: [
          {
            content_digest: made.digest,
            status: "completed",
            made: [
              { standing: "trusted", principals: ["erin@example.org"], details: ["completed", "0 passed, 0 failed"] },
            ],
            checked: [{ principals: ["carol@example.org"], result: "PASSED", own: false }],
            independent: ["carol@example.org"],
            refused: [],
            broken: [],
          },
        ],
        broken: [],
      },
    ]);
    const lines = (await text(desk.path("bundles"))).split("\n");
    expect(lines[1]).toMatch(/^ {2}✓ asked {4}dave@example\.org +2026-03-14T10:00:00\.000Z {2,}\S*task\.nut$/);
    expect(lines[2]).toMatch(
      /^ {2}✓ made {5}erin@example\.org +2026-03-14T10:00:00\.000Z {2}\S*done\.nut +completed; /,
    );
    expect(lines[3]).toContain("✓ checked  carol@example.org");
    expect(lines[3]).toContain("passed; 1 passed, 0 failed; sandboxed; on linux-x64");
    expect(lines[4]).toBe("  ✓ 1 independent verdict that it passed: carol@example.org");
  });

  it("gives nobody a name for what nobody signed, whatever the bundle says of itself", async () => {
    const asked = await request("task", { publisher: { name: "alice@example.org", contact: "alice@example.org" } });
    await delivery("done", asked);
    const { tasks } = await log(desk.path("bundles"));
    expect(tasks).toMatchObject([{ asked: [], deliveries: [{ made: [], checked: [], independent: [] }] }]);
    const shown = await text(desk.path("bundles"));
    expect(shown).not.toContain("alice@example.org");
    expect(shown).toContain("? asked    nobody signed the request");
    expect(shown).toContain("? made     nobody signed the delivery, which says completed");
  });

  it("keeps a sender's words from looking like a line of its own", async () => {
    const forged = "T\n  ✓ asked    alice@example.org  2026-03-14T10:00:00.000Z";
    const asked = await request("task", { task: { title: `${forged}${" ".repeat(200)}✓ made`, summary: "s" } });
    const made = await delivery("done", asked);
    const platform = "x\n  ✓ checked  alice@example.org";
    beside("done", [await signStatement(verdict({ made, asked, platform }), mallory.sign)]);
    const lines = (await text(desk.path("bundles"))).split("\n");
    expect(lines.filter((line) => /^\s*✓/.test(line))).toEqual([]);
    expect(lines[0]!.length).toBeLessThan(220);
  });

  it("calls a stranger's key a key, and a verdict of the maker the maker's", async () => {
    const asked = await request();
    const made = await delivery("done", asked);
    const erin = await key("erin");
    await desk.run(["sign", nut("done"), "--key", erin]);
    await desk.run(["trust", "remove", "erin@example.org"]);
    const own = verdict({ made, asked });
    beside("done", [
      await signStatement(own, mallory.sign),
      await signStatement(verdict({ made, asked, result: "FAILED" }), bob.sign),
    ]);
    const { tasks } = await log(desk.path("bundles"));
    const [{ deliveries }] = tasks;
    expect(deliveries[0]).toMatchObject({
      made: [{ standing: "unknown", principals: [], why: "nobody you trust has this key" }],
      independent: [],
      refused: ["bob@example.org"],
    });
    expect(await text(desk.path("bundles"))).toContain("✗ bob@example.org found that it does not hold");
  });

  it("says which links do not hold", async () => {
    const asked = await request();
    const other = await request("other", { task: { title: "Another", summary: "s" } });
    await delivery("gone", { digest: `sha256:${"0".repeat(64)}`, id: "nut-gone" });
    await delivery("by-id", { id: "nut-nowhere" });
    const made = await delivery("done", asked, "partial");
    const forged = verdict({ made: { ...made, digest: other.digest }, asked });
    beside("done", [await signStatement(forged, carol.sign)]);
    const shown = await text(desk.path("bundles"));
    expect(shown).toContain("✗ the request is not here");
    expect(shown).toContain("✗ it names its request by id alone (nut-nowhere), which ties it to no content");
    expect(shown).toContain("✗ a signature counts for nothing: it is about other content");
    expect(shown).toContain("✗ a request with the same id but other content is here");
    expect(shown).not.toContain("carol@example.org");
    const { tasks } = await log(desk.path("bundles"));
    const of = (digest: string) =>
      tasks.find((task: { content_digest: string }) => task.content_digest === digest).deliveries;
    expect([of(asked.digest).length, of(other.digest).length]).toEqual([1, 0]);
  });

  it("does not hide that a delivery was signed as more than it says itself", async () => {
    const asked = await request();
    const made = await delivery("done", asked, "partial");
    const { deliveryStatement } = await import("../../src/statements/index.js");
    const statement = deliveryStatement({
      bundle: made,
      request: asked,
      delivery: { status: "completed", digests: { result: RESULT } },
      at: NOW,
      facts: null,
    });
    beside("done", [await signStatement(statement, bob.sign)]);
    const { tasks } = await log(desk.path("bundles"));
    expect(tasks[0].deliveries[0].broken).toEqual(["signed as completed, but it says itself: partial"]);
  });

  it("reads on past what is damaged, and finds what signatures without a bundle speak of", async () => {
    const asked = await request();
    const made = await delivery("done", asked);
    writeFileSync(
      desk.path("bundles/done.verdict.sigs"),
      formatEnvelopes([await signStatement(verdict({ made, asked }), carol.sign)]),
    );
    const nowhere = verdict({ made: { ...made, digest: `sha256:${"0".repeat(64)}` }, asked });
    writeFileSync(desk.path("bundles/lost.nut.sigs"), formatEnvelopes([await signStatement(nowhere, bob.sign)]));
    writeFileSync(nut("noise"), "not a bundle");
    const damaged = readFileSync(nut("done"));
    damaged[damaged.length - 12]! ^= 1;
    writeFileSync(nut("damaged"), damaged);
    const { tasks, unread } = await log(desk.path("bundles"));
    expect(tasks[0].deliveries).toMatchObject([
      { independent: ["carol@example.org"], sources: ["../bundles/done.nut"] },
    ]);
    expect(unread.map(({ source }: { source: string }) => source).sort()).toEqual([
      "../bundles/damaged.nut",
      "../bundles/lost.nut.sigs",
      "../bundles/noise.nut",
    ]);
    expect(JSON.stringify(unread)).toContain("a signature about content that is not here");
  });

  it("counts copies of the same content once, and takes several places", async () => {
    const asked = await request();
    const made = await delivery("done", asked);
    beside("done", [await signStatement(verdict({ made, asked }), carol.sign)]);
    mkdirSync(desk.path("copies"));
    copyFileSync(nut("done"), desk.path("copies/again.nut"));
    copyFileSync(`${nut("done")}.sigs`, desk.path("copies/again.nut.sigs"));
    renameSync(nut("task"), desk.path("task.nut"));
    const { tasks } = await log(desk.path("task.nut"), desk.path("bundles"), desk.path("copies"), made.folder);
    expect(tasks).toHaveLength(1);
    expect(tasks[0].deliveries).toHaveLength(1);
    expect(tasks[0].deliveries[0]).toMatchObject({ checked: [{}], independent: ["carol@example.org"] });
    expect(tasks[0].deliveries[0].sources).toHaveLength(3);
  });

  it("refuses what was named and is no bundle, and a folder in which nothing can be read", async () => {
    await request();
    writeFileSync(desk.path("noise.nut"), "not a bundle");
    mkdirSync(desk.path("broken"));
    copyFileSync(desk.path("noise.nut"), desk.path("broken/noise.nut"));
    for (const places of [[desk.path("noise.nut")], [nut("task"), desk.path("noise.nut")], [desk.path("broken")]]) {
      const { code, out, err } = await desk.run(["log", ...places]);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toMatch(/error: .*noise\.nut.*\n.*hint: /);
    }
  });

  it("refuses a place where nothing lies, and leaves nothing behind", async () => {
    for (const place of [desk.path("bundles"), desk.path("nowhere")]) {
      const { code, err } = await desk.run(["log", place, "--json"]);
      expect(code).toBe(2);
      expect(err).toContain("FILE_NOT_FOUND");
    }
    rmSync(desk.path("bundles"), { recursive: true });
    expect(readdirSync(desk.root).sort()).toEqual(["home", "task"]);
  });
});
