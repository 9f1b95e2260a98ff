// For one person alone, from the key to "verified: completed", with a wrong turn at every step: each is refused with a sentence
// that leads on, and leaves nothing behind.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runText } from "../../src/commands/nexus/run/run-text.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { put } from "./room.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-sealed-"));
  mkdirSync(join(folder, "tmp"));
  put(join(folder, "task"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-11111111-1111-4111-8111-111111111111",
      created_at: "2026-03-14T10:00:00Z",
      task: { title: "Greet", summary: "say hello" },
      context: { requirements: "context/requirements.md" },
      acceptance: { criteria_file: "tests/criteria.json", checklist: ["it is polite"] },
    }),
    "context/requirements.md": "say hello\n",
    "tests/criteria.json": JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", script: "tests/greets.sh" }] }),
    "tests/greets.sh": "grep -q hello files/greeting.txt\n",
    "files/greeting.txt": "nothing\n",
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Words as a person types them; quotes hold one together. */
async function type(line: string) {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);
  const env = { HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), NUTCRACKER_CONSENT: "all" };
  const before = readdirSync(folder).sort();
  const run = await runNutshell(words, { cwd: folder, env });
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  return { ...run, made: readdirSync(folder).filter((name) => !before.includes(name)) };
}

const works = async (line: string) => {
  const run = await type(line);
  expect(run, `${line}\n${run.err}`).toMatchObject({ code: 0 });
  return run.out;
};
const refused = async (line: string, why: string | RegExp) => {
  const { code, err, made } = await type(line);
  expect({ line, err }).toMatchObject({ err: expect.stringMatching(why) });
  expect([1, 2]).toContain(code);
  expect(err).toContain("hint: ");
  expect(made.filter((name) => name !== "home")).toEqual([]);
};
const peer = (out: string) => /12D3KooW\w+/.exec(out)![0];

describe("a request for one person", () => {
  it("goes there and back, and every wrong turn says how to go on", async () => {
    const [ada, bob] = [await works("keygen --peer -o ada.key"), await works("keygen --peer -o bob.key")].map(peer);
    await refused("keygen --peer -o ada.key", "never overwritten");

    await refused("pack --dir task --peer 12D3KooWnobody -o sealed.nut", /peer/i);
    await works(`pack --dir task --peer ${bob} -o sealed.nut`);

    await refused("inspect sealed.nut", "there is no identity to open it with");
    await refused("inspect sealed.nut --identity ada.key", "sealed for another peer");
    await refused("unpack sealed.nut -o work --identity ada.key", "sealed for another peer");
    await works("unpack sealed.nut -o work --identity bob.key");

    await refused("finish work -r sealed.nut -o done.nut", "there is no identity");
    await refused(
      "finish work -r sealed.nut -o done.nut --identity bob.key -m x",
      "nothing in .* differs from the request",
    );
    put(join(folder, "work"), { "files/greeting.txt": "hello\n" });
    const half = await type("finish work -r sealed.nut -o done.nut --identity bob.key -m greets --by Bob --trials 1");
    expect(half).toMatchObject({
      code: 1,
      out: expect.stringContaining("--request sealed.nut --identity bob.key --rerun"),
    });

    await refused("verify done.nut -r sealed.nut --rerun", "there is no identity");
    const open = await type("verify done.nut -r sealed.nut --rerun --identity bob.key --trials 1");
    expect(open.code).toBe(1);
    const judge = /who finds that it holds: nutshell (.*)$/m.exec(open.out)![1]!;
    expect(judge).toContain("--identity bob.key");
    await refused(judge.replace(" --identity bob.key", ""), "there is no identity");
    await works(judge);
    expect(await works("verify done.nut -r sealed.nut --rerun --identity bob.key --trials 1")).toContain(
      "verified: completed",
    );

    await works("unpack done.nut -o answer");
    await works(`pack --dir answer --peer ${ada} -o for-ada.nut`);
    await refused("verify for-ada.nut -r task --rerun --identity bob.key", "sealed for another peer");
    await refused(`judge for-ada.nut -r task --all --status passed --by Ada --why read --identity ada.key`, "unpack");
    await refused("apply for-ada.nut --repo .", /sealed|no repository|not a git/i);
    expect(await works("verify for-ada.nut -r task --rerun --identity ada.key --trials 1")).toContain(
      "verified: completed",
    );
    expect(existsSync(join(folder, "for-ada.nut"))).toBe(true);
    expect(readFileSync(join(folder, "task/files/greeting.txt"), "utf8")).toBe("nothing\n");
  }, 60_000);

  it("is named with its key in what a run tells to type next", () => {
    const result = {
      status: "completed" as const,
      acceptance_results: { criteria: [{ id: "A", status: "unknown" as const }] },
    };
    const delivery = {
      path: "/d.nut",
      hash: "x",
      request: "/sealed.nut",
      identity: ["/my keys/bob.key"],
      result: result as never,
    };
    const lines = runText({ type: "result", run: "r", status: "delivered", delivery }).join("\n");
    expect(lines).toContain("verify /d.nut --request /sealed.nut --identity '/my keys/bob.key' --rerun");
    expect(lines).toContain("judge /d.nut --request /sealed.nut --identity '/my keys/bob.key' --all");
  });
});
