import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runNutshell } from "./run-nutshell.js";

const templates = readdirSync(fileURLToPath(new URL("../../templates", import.meta.url))).sort();
let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "nut-begin-"));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

const nutshell = (...argv: string[]) => runNutshell(argv, { cwd: work });
const manifest = (dir: string) => JSON.parse(readFileSync(join(work, dir, "nutshell.json"), "utf8"));

describe("init --from a template of the package", () => {
  it("has four", () => {
    expect(templates).toEqual(["bug-fix", "data-analysis", "feature", "review"]);
  });

  it.each(templates)("%s begins a valid draft that says what to fill in", async (name) => {
    expect(await nutshell("init", "task", "--from", name)).toMatchObject({ code: 0, err: "" });
    expect(manifest("task")).toMatchObject({ bundle_type: "request", created_at: "2026-03-14T10:00:00Z" });
    expect(manifest("task").id).toMatch(/^nut-[0-9a-f-]{36}$/);
    expect(manifest("task")).not.toHaveProperty("parent_id");
    expect((await nutshell("validate", "task")).code).toBe(0);
    const { code, out } = await nutshell("check", "task", "--json");
    expect({ code, status: JSON.parse(out).status }).toEqual({ code: 1, status: "draft" });
  });

  it("prefers a folder of that name, and names the templates when there is neither", async () => {
    await nutshell("init", "review", "--yes");
    await nutshell("set", "task.title", "mine", "--dir", "review");
    await nutshell("init", "task", "--from", "review");
    expect(manifest("task").task.title).toBe("mine");
    const { code, err } = await nutshell("init", "other", "--from", "bugfix");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("nutshell init --from bug-fix") });
    expect(existsSync(join(work, "other"))).toBe(false);
  });
});

describe("init --from-issue", () => {
  it("takes title, summary, checklist and requirements", async () => {
    writeFileSync(join(work, "issue.md"), "# Slugs are ugly\n\nTitles become -a-.\n\n- [ ] no dash at the ends\n");
    expect((await nutshell("init", "task", "--from-issue", "issue.md")).code).toBe(0);
    expect(manifest("task")).toMatchObject({
      task: { title: "Slugs are ugly", summary: "Titles become -a-." },
      acceptance: { checklist: ["no dash at the ends"] },
    });
    expect(readFileSync(join(work, "task/context/requirements.md"), "utf8")).toBe(
      "# Slugs are ugly\n\nTitles become -a-.\n\n- [ ] no dash at the ends\n",
    );
    expect((await nutshell("check", "task")).code).toBe(0);
  });

  it("keeps a tracker's labels and address", async () => {
    writeFileSync(
      join(work, "issue.json"),
      '{"title":"T","body":"","labels":[{"name":"bug"}],"url":"https://x.test/7"}',
    );
    await nutshell("init", "task", "--from-issue", "issue.json");
    expect(manifest("task")).toMatchObject({
      tags: { domains: ["bug"] },
      extensions: { issue: { url: "https://x.test/7" } },
    });
    expect((await nutshell("check", "task")).code).toBe(1);
  });

  it("leaves nothing behind when it cannot", async () => {
    writeFileSync(join(work, "bad.json"), "{");
    writeFileSync(join(work, "huge.md"), "x".repeat(1024 * 1024 + 1));
    for (const argv of [["bad.json"], ["huge.md"], ["none.md"], ["bad.json", "--from", "review"]]) {
      const { code, err } = await nutshell("init", "task", "--from-issue", ...argv);
      expect({ code, err }).toMatchObject({ code: 2, err: expect.stringMatching(/^nutshell: error: /) });
    }
    expect(existsSync(join(work, "task"))).toBe(false);
  });
});
