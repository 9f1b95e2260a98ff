// The board under a person's hands: remarks, notices, paper, and the keyboard alone.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRun, runFolder, runsFolder } from "../../src/run/record/folder.js";
import { Journal } from "../../src/run/record/journal.js";
import {
  type Browser,
  expectAccessible,
  hasChromium,
  openBrowser,
  unreachedByKeyboard,
  type Watched,
} from "./browser.js";
import { BLUE_PIXEL, PIXEL } from "./bundles.js";
import { temporary, write } from "./folders.js";
import { project } from "./projects.js";
import { type Served, start } from "./serving.js";

/** No phone is as wide, and no blank lets it break. */
const LONG_PATH = `/home/ada/${"a_folder_of_a_shop".repeat(4)}/plan.json`;

/** A run whose work failed and who was asked about it: it changed a line and a picture. */
function failedRun(root: string): string {
  const at = new Date().toISOString();
  const digest = `sha256:${"0".repeat(64)}`;
  const id = "20250102-000000-cccc";
  const folder = createRun(runsFolder(root), {
    ...{ id, created_at: at, title: `Failed ${LONG_PATH}`, request_id: "nut-1", request: "/r.nut", driver: "demo" },
    ...{ budget: { agentMs: 1, stallMs: 1, loop: 1 }, review_plan: false, yes: false, force: false, output: "/d.nut" },
  });
  const keep = (path: string, before: Buffer, after: Buffer) => {
    const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    write(folder.request, { [path]: before });
    write(folder.objects, { [hash(after)]: after });
    const entry = (bytes: Buffer) => ({
      type: "file" as const,
      executable: false,
      size: bytes.length,
      hash: hash(bytes),
    });
    return { path, kind: "modified" as const, before: entry(before), after: entry(after) };
  };
  const changes = [
    keep("files/a.ts", Buffer.from("const a = 1;\n"), Buffer.from("const a = 2;\n")),
    keep("files/logo.png", PIXEL, BLUE_PIXEL),
  ];
  const task = { id: 1, title: "Sum", context: "c", deps: [], owner: "engineer", kind: "work" as const };
  const work = { agent: "engineer-1", task: 1 } as const;
  const start = { role: "engineer", purpose: "work", mode: "fresh", reason: "", base: 0, slot: "s" } as const;
  const end = { outcome: "done", text: "", ms: 1, usage: { tokens: 1, costUsd: 0 }, reported: true } as const;
  const journal = new Journal(folder.journal);
  const plan = { source: "default" as const, goal: "", decisions: [], issues: [], tasks: [task] };
  journal.append({ at, type: "created", version: 3, run: id });
  journal.append({ at, type: "opened", digest, base: digest });
  journal.append({ at, type: "planned", plan });
  journal.append({ at, type: "agent_started", ...work, ...start });
  const none = { problems: [], tools: [], decisions: [], issues: [], judgements: [] };
  journal.append({ at, type: "agent_ended", ...work, ...end, ...none, changes });
  journal.append({ at, type: "task_failed", task: 1, problems: ["AC-1 fails"] });
  journal.append({ at, type: "asked", task: 1, question: `what now with ${LONG_PATH}?` });
  journal.append({
    at,
    type: "paused",
    reason: "question",
    message: `asked: ${LONG_PATH}`,
    hint: "nexus resume",
    ms: 1,
  });
  journal.close();
  return id;
}

describe.skipIf(!hasChromium)("the board in hand", () => {
  const folder = temporary();
  const root = join(folder.path, "shop");
  const plan = join(root, ".nexus/state/plan.json");
  let run: string;
  let browser: Browser;
  let served: Served;

  beforeAll(async () => {
    write(root, project({ tasks: 6, agents: 2 }));
    run = failedRun(root);
    browser = await openBrowser();
    served = await start("nexus", ["board", "--project", root, "--port", "0"], { env: { HOME: folder.path } });
    const { page } = await browser.page();
    await page.goto(served.link);
    await page.waitForSelector("main h1");
  });

  afterAll(async () => {
    await browser?.close();
    await served?.stop();
    folder.remove();
  });

  async function look(route: string): Promise<Watched> {
    const watched = await browser.page();
    await watched.page.goto(`${served.origin}/#/${route}`);
    await watched.page.waitForSelector("main h1");
    return watched;
  }
  const shows = ({ page }: Watched, text: string) =>
    page.locator("main", { hasText: text }).waitFor({ timeout: 5_000 });

  it("shows pictures before and after, and sends remarks on lines as the next try's answer", async () => {
    const view = await look(`run/${run}?part=diff`);
    await view.page.locator(".change-row", { hasText: "logo.png" }).click();
    await view.page.waitForSelector(".pictures img >> nth=1");
    const pictures = await view.page.locator(".pictures img").evaluateAll(async (all) => {
      const images = all as unknown as { decode(): Promise<void>; naturalWidth: number; alt: string }[];
      for (const image of images) await image.decode();
      return images.map(({ alt, naturalWidth }) => `${alt} ${naturalWidth}`);
    });
    expect(pictures).toEqual(["before: files/logo.png 1", "after: files/logo.png 2"]);
    await expectAccessible(view.page);

    await view.page.locator(".change-row", { hasText: "a.ts" }).click();
    await view.page.getByRole("button", { name: "Remark on line 1" }).first().click();
    await view.page.getByLabel("Remark on files/a.ts:1").fill("three, not two");
    // The page is drawn every second; whoever went on to the button stays there.
    await view.page.keyboard.press("Tab");
    await view.page.waitForTimeout(1_300);
    expect(await view.page.evaluate("document.activeElement.textContent")).toBe("Keep the remark");
    await view.page.keyboard.press("Enter");
    await view.page.locator(".remarks", { hasText: "three, not two" }).waitFor();
    await expectAccessible(view.page);
    // They are still there after a reload, and go as one answer to what the run asks.
    await view.page.reload();
    const told = view.page.getByLabel("What the next try is told");
    await told.waitFor();
    expect(await told.inputValue()).toBe("files/a.ts:1 (const a = 2;): three, not two");
    await browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: served.origin });
    await view.page.getByRole("button", { name: "Send them as the answer" }).click();
    await shows(view, "Copied: paste it into a terminal.");
    expect(await view.page.evaluate(() => navigator.clipboard.readText())).toBe(
      `nexus resume ${run} --task=1 --answer='files/a.ts:1 (const a = 2;): three, not two'`,
    );
    expect(await unreachedByKeyboard(view.page)).toEqual([]);
  });

  it("says what became of an action though its question went and came back meanwhile, and not for ever", async () => {
    const writing = await start("nexus", ["board", "--project", root, "--port", "0", "--write"], {
      env: { HOME: folder.path },
    });
    const { page } = await browser.page();
    const question = page.locator(".question", { hasText: `Failed ${LONG_PATH}` });
    const tryAgain = question.getByRole("button", { name: "Try again" });
    const records = (...all: Parameters<Journal["append"]>[0][]) => {
      const journal = new Journal(runFolder(runsFolder(root), run, false).journal);
      for (const one of all) journal.append(one);
      journal.close();
    };
    const at = new Date().toISOString();
    const tryOnce = () => records({ at, type: "continued" }, { at, type: "answered", task: 1, answer: "retry" });
    const failAgain = () =>
      records(
        { at, type: "task_failed", task: 1, problems: ["AC-1 fails"] },
        { at, type: "asked", task: 1, question: "what now?" },
        { at, type: "paused", reason: "question", message: "asked", hint: "nexus resume", ms: 1 },
      );
    try {
      await page.clock.install();
      await page.goto(writing.link);
      await page.waitForSelector("main h1");
      let answer = () => {};
      await page.route("**/api/change", async (route) => {
        await new Promise<void>((done) => {
          answer = done;
        });
        await route.fulfill({
          json: { done: false, consent: null, message: "nobody is logged in", hint: "codex login" },
        });
      });
      await page.goto(`${writing.origin}/#/now`);
      await tryAgain.click();
      await question.getByRole("button", { name: "Try again …" }).waitFor();
      // It tries again, so nothing is asked; then it fails once more; then the answer comes.
      tryOnce();
      await tryAgain.waitFor({ state: "detached" });
      failAgain();
      await tryAgain.waitFor();
      answer();
      const refusal = question.locator(".notice.bad", { hasText: "nobody is logged in" });
      await refusal.waitFor();
      // A question that comes back much later is a new one.
      tryOnce();
      await tryAgain.waitFor({ state: "detached" });
      await page.clock.fastForward(61_000);
      failAgain();
      await tryAgain.waitFor();
      expect(await refusal.count()).toBe(0);
    } finally {
      await page.close();
      await writing.stop();
    }
  });

  it("tells whoever asked for it that something waits, and nobody else", async () => {
    await browser.context.grantPermissions(["notifications"], { origin: served.origin });
    const view = await browser.page();
    await view.page.addInitScript(() => {
      const said: string[] = [];
      class Heard {
        static readonly permission = "granted";
        static readonly requestPermission = async () => "granted";
        constructor(title: string, { body }: { body: string }) {
          said.push(`${title}: ${body}`);
        }
      }
      Object.assign(globalThis, { said, Notification: Heard });
    });
    await view.page.goto(`${served.origin}/#/now`);
    await view.page.waitForSelector("main h1");
    const said = () => view.page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
    const before = readFileSync(plan, "utf8");
    const asked = JSON.parse(before) as { issues: { id: number; title: string; status: string }[] };
    const ask = async (id: number, title: string) => {
      asked.issues.push({ id, title, status: "pending" });
      writeFileSync(plan, JSON.stringify(asked));
      await shows(view, title);
    };
    await ask(3, "Nobody asked to be told of this");
    expect(await said()).toEqual([]);
    await view.page.getByRole("button", { name: "Notify me" }).click();
    await view.page.waitForSelector('.notify[aria-pressed="true"]');
    await ask(4, "This one is told");
    // The page is told after it was drawn.
    await expect.poll(said).toEqual([expect.stringMatching(/^Nexus needs you: /)]);
    writeFileSync(plan, before);
  });

  it("is nowhere wider than a phone, whatever a run says", async () => {
    const view = await look("now");
    await view.page.setViewportSize({ width: 390, height: 780 });
    for (const route of ["now", "runs", `run/${run}`, `run/${run}?part=diff`]) {
      await view.page.goto(`${served.origin}/#/${route}`);
      await shows(view, LONG_PATH);
      expect.soft(await view.page.evaluate("document.documentElement.scrollWidth"), route).toBe(390);
    }
  });

  it("is whole on paper, and every stop is reached with the keyboard", async () => {
    const view = await look("plan");
    expect(await view.page.locator("details:not([open])").count()).toBeGreaterThan(0);
    await view.page.emulateMedia({ media: "print" });
    await view.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect(await view.page.locator("details:not([open])").count()).toBe(0);
    await view.page.emulateMedia({ media: "screen" });
    for (const route of ["plan", "now", "runs", "tasks"]) {
      await view.page.goto(`${served.origin}/#/${route}`);
      await view.page.waitForSelector(`nav a[aria-current="page"][href="#/${route}"]`);
      expect(await unreachedByKeyboard(view.page), route).toEqual([]);
    }
  });
});
