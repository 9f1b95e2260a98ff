import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createRun, runsFolder } from "../../src/run/record/folder.js";
import { Journal } from "../../src/run/record/journal.js";
import { lockRun } from "../../src/run/record/lock.js";
import { type Browser, expectAccessible, hasChromium, openBrowser, shot, type Watched } from "./browser.js";
import { temporary, write } from "./folders.js";
import { project, taskList } from "./projects.js";
import { run, type Served, start } from "./serving.js";

/** A run that somebody is at: its lock is held here. An older one than the project's, so that it is not the latest. */
function startedRun(root: string, agents: readonly string[]): { id: string; end: () => void } {
  const at = new Date().toISOString();
  const digest = `sha256:${"0".repeat(64)}`;
  const id = "20250101-000000-bbbb";
  const folder = createRun(runsFolder(root), {
    ...{ id, created_at: at, title: "At work", request_id: "nut-1", request: "/r.nut", driver: "demo" },
    ...{ budget: { agentMs: 1, stallMs: 1, loop: 1 }, review_plan: false, yes: false, force: false, output: "/d.nut" },
  });
  const lock = lockRun(folder);
  const tasks = agents.map((_, index) => ({
    ...{ id: index + 1, title: `t${index}`, context: "c", deps: [], owner: "engineer", kind: "work" as const },
  }));
  const journal = new Journal(folder.journal);
  journal.append({ at, type: "created", version: 3, run: id });
  journal.append({ at, type: "opened", digest, base: digest });
  journal.append({ at, type: "planned", plan: { source: "default", goal: "g", decisions: [], issues: [], tasks } });
  for (const [index, agent] of agents.entries()) {
    const start = { agent, task: index + 1, role: agent.split("-")[0]!, purpose: "work", mode: "fresh" } as const;
    journal.append({ at, type: "agent_started", ...start, reason: "", base: 0, slot: `s${index}` });
  }
  journal.close();
  return { id, end: () => lock.release() };
}

describe.skipIf(!hasChromium)("the board in a browser", () => {
  const folder = temporary();
  const root = join(folder.path, "shop");
  const state = (name: string) => join(root, ".nexus/state", name);
  const env = { HOME: folder.path };
  let browser: Browser;
  let served: Served;

  beforeAll(async () => {
    write(root, project({ tasks: 12, agents: 5 }));
    write(join(folder.path, "other"), { ".nexus/state/tasks.json": { ...taskList(3), goal: "The other project" } });
    browser = await openBrowser();
    served = await start(
      "nexus",
      ["board", "--project", root, "--project", join(folder.path, "other"), "--port", "0"],
      { env },
    );
  });

  afterAll(async () => {
    await browser?.close();
    await served?.stop();
    folder.remove();
  });

  const known = new Set<string>();
  async function look(route: string, serving = served): Promise<Watched> {
    const watched = await browser.page();
    const { page } = watched;
    await page.goto(known.has(serving.link) ? serving.origin : serving.link);
    if (!known.has(serving.link)) await page.waitForSelector("main h1");
    known.add(serving.link);
    await page.goto(`${serving.origin}/#/${route}`);
    await page.waitForSelector(`nav a[aria-current="page"][href="#/${route.split("/")[0]}"]`);
    await page.waitForSelector("main h1");
    return watched;
  }

  /** The app an agent just built, say: another port of this machine, opened in the browser that was let in. */
  async function playOtherServer({ page }: Watched, board: string): Promise<{ answers: string[]; headers: string[] }> {
    const headers: string[] = [];
    const other = createServer((request, response) => {
      headers.push(...Object.keys(request.headers));
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>the other</title>");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    try {
      await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
      const answers = await page.evaluate(async (target) => {
        const body = '{"project":0,"action":"reopen","task":2}';
        const key = Object.values(localStorage).join("");
        const json = { "content-type": "application/json", "x-nutcracker-key": key };
        const tries: [string, RequestInit][] = [
          ["/events", { credentials: "include" }],
          ["/api/change", { method: "POST", credentials: "include", headers: json, body }],
          ["/api/change", { method: "POST", credentials: "include", mode: "no-cors", body }],
          ["/enter", { credentials: "include" }],
        ];
        const answer = async ([path, init]: [string, RequestInit]) => {
          try {
            const response = await fetch(target + path, init);
            return response.ok || response.status === 200 ? "yes" : "no";
          } catch {
            return "no";
          }
        };
        return Promise.all(tries.map(answer));
      }, board);
      return { answers, headers };
    } finally {
      other.close();
      other.closeAllConnections();
    }
  }

  afterEach(async () => {
    for (const page of browser.context.pages().slice(1)) await page.close();
  });

  const main = ({ page }: Watched) => page.locator("main").innerText();
  /** Without a reload; how quickly is measured by the benchmark, where nothing else runs. */
  async function shows({ page }: Watched, text: string): Promise<void> {
    await page.locator("main", { hasText: text }).waitFor({ timeout: 5_000 });
  }

  it("shows plan, tasks, agents of every harness, denials, runs, history and artifacts", async () => {
    const view = await look("now");
    const now = await main(view);
    for (const fact of [
      "Signed cookies",
      "3 of 12 done",
      "task 2 failed again: one test fails",
      "What about old sessions",
      "denied: no_file_edit",
      "Wish list",
      "50k of 200k",
    ])
      expect(now).toContain(fact);
    await expectAccessible(view.page);
    await shot(view.page, "board-now");
    const at = async (route: string) => {
      await view.page.goto(`${served.origin}/#/${route}`);
      const place = route.split("/")[0]!.replace(/^run$/, "runs");
      await view.page.waitForSelector(`nav a[aria-current="page"][href="#/${place}"]`);
      return main(view);
    };
    expect(await at("plan")).toMatch(
      /Which scheme[\s\S]*decided[\s\S]*HMAC, with rotation[\s\S]*What about old sessions[\s\S]*open/,
    );
    await expectAccessible(view.page);
    expect(await at("tasks")).toMatch(/running[\s\S]*Task number 4/);
    await expectAccessible(view.page);
    const agents = await at("agents");
    expect(agents).toMatch(/nutcracker agent-0[\s\S]*1 file: src\/cookie\.ts/);
    expect(agents).toContain("nutcracker-claude a1");
    expect(agents).toContain("task 4");
    expect(agents).toContain("All tests pass.");
    await expectAccessible(view.page);
    expect(await at("activity")).toMatch(
      /tester\s+file_creation\s+no denied: no_file_edit[\s\S]*partial_file_edit\s+src\/cookie\.ts/,
    );
    await expectAccessible(view.page);
    expect(await at("runs")).toMatch(/Wish list[\s\S]*paused[\s\S]*1 of 2 done, 1 failed/);
    await expectAccessible(view.page);
    const seen = await at("run/20260101-000000-aaaa");
    expect(seen).toMatch(/paused[\s\S]*asks about task 2[\s\S]*failed[\s\S]*2 Test[\s\S]*engineer-2: work, task 2/);
    expect(seen).toMatch(
      /Credentials used[\s\S]*refused\s+[\d:]+\s+shop DELETE https:\/\/shop\.example\/v1\/users\s+engineer-1, 0 B\s+may only read\s+allowed\s+[\d:]+\s+shop GET \S+\/users\s+engineer-1, 2\.0 KB/,
    );
    await expectAccessible(view.page);
    await at("history");
    await shows(view, "In the gateway");
    await view.page.getByLabel("Search the history").fill("tidy");
    await view.page.locator("main", { hasNotText: "In the gateway", hasText: "1 task" }).waitFor();
    expect(await main(view)).toContain("1 task");
    await expectAccessible(view.page);
    await at("artifacts/notes/research.md");
    await shows(view, "Three services.");
    await expectAccessible(view.page);
    expect(view.complaints).toEqual([]);
    expect(view.requests.filter((url) => !url.startsWith(served.origin) && !url.startsWith("data:"))).toEqual([]);
  });

  it("draws tasks as a graph and tells about the one that is chosen", async () => {
    const view = await look("tasks/graph");
    await view.page.waitForSelector(".node");
    expect(await view.page.locator(".graph path").count()).toBeGreaterThan(10);
    await view.page.locator(".node.running").first().click();
    expect(await view.page.locator(".task-detail").innerText()).toMatch(
      /Task 4[\s\S]*running[\s\S]*What there is to know/,
    );
    await expectAccessible(view.page);
    await shot(view.page, "board-graph");
    expect(view.complaints).toEqual([]);
  });

  it("shows the other project at a click", async () => {
    const view = await look("tasks");
    await view.page.getByRole("button", { name: "other" }).click();
    await shows(view, "The other project");
  });

  it("shows a change by itself, whatever is written and however", async () => {
    const view = await look("now");
    const tasks = taskList(12) as { goal: string; tasks: { title: string; status: string }[] };
    tasks.tasks[3]!.title = "Renamed while you look";
    writeFileSync(state("tasks.json.new"), JSON.stringify(tasks));
    renameSync(state("tasks.json.new"), state("tasks.json"));
    await shows(view, "Renamed while you look");

    const line = {
      at: new Date().toISOString(),
      agent_name: "reviewer",
      tool: "shell_command_exec",
      ok: false,
      error: "denied just now",
    };
    appendFileSync(state("tool-log.jsonl"), `${JSON.stringify(line)}\n`);
    await shows(view, "denied just now");

    write(root, {
      ".nexus/state/nutcracker-codex/agent-tracker.json": [
        {
          harness_id: "nutcracker-codex",
          agent_name: "newcomer",
          agent_id: "n1",
          started_at: new Date().toISOString(),
          status: "running",
        },
      ],
    });
    await shows(view, "newcomer");

    const atWork = startedRun(root, ["engineer-1", "engineer-2", "tester-3"]);
    for (const agent of ["engineer-1", "engineer-2", "tester-3"]) await shows(view, `run ${atWork.id} ${agent}`);
    expect(await main(view)).not.toMatch(/nobody is working/i);
    atWork.end();
    await view.page.locator("main", { hasNotText: `run ${atWork.id}` }).waitFor();

    const added = await run("nexus", ["task", "add", "Added by the program", "now"], root);
    expect(added.stderr).not.toContain("error");
    await shows(view, "of 13 done");
  });

  it("names a damaged file and goes on with the rest", async () => {
    const view = await look("now");
    const before = readFileSync(state("plan.json"));
    writeFileSync(state("plan.json"), "{ half");
    await shows(view, "plan.json is not JSON");
    expect(await main(view)).toContain("denied: no_file_edit");
    writeFileSync(state("plan.json"), before);
    await shows(view, "Signed cookies");
    rmSync(state("plan.json"));
    await view.page.locator("main h1", { hasNotText: "Signed" }).waitFor();
    writeFileSync(state("plan.json"), before);
    await shows(view, "Signed cookies");
  });

  it("writes nothing unless it was started to", async () => {
    const view = await look("plan");
    // The button is there, and copies the command that it would be.
    await browser.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: served.origin });
    await view.page.getByLabel("The decision, with its reason").fill("it's one");
    await view.page.getByRole("button", { name: "Decide" }).click();
    await shows(view, "Copied: paste it into a terminal.");
    const copied = await view.page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe("nexus plan decide 2 'it'\\''s one'");
    expect(JSON.parse(readFileSync(state("plan.json"), "utf8")).issues[1].status).toBe("pending");
    const status = await view.page.evaluate(async () => {
      const response = await fetch("/api/change", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"project":0,"action":"reopen","task":1}',
      });
      return response.status;
    });
    expect(status).toBe(405);
  });

  it("keeps showing what it knew when the board has ended, and lets in with the next link", async () => {
    const first = await start("nexus", ["board", "--project", root, "--port", "0"], { env });
    const view = await look("plan", first);
    await view.page.waitForSelector(".live.live");
    await first.stop();
    await view.page.waitForSelector(".live.lost");
    expect(await view.page.locator(".ended").innerText()).toContain("nexus board");
    expect(await main(view)).toContain("Which scheme");
    const second = await start("nexus", ["board", "--project", root, "--port", String(first.port)], { env });
    await view.page.waitForSelector(".live.refused", { timeout: 10_000 });
    await view.page.goto(second.link);
    await view.page.waitForSelector(".live.live", { timeout: 10_000 });
    await second.stop();
  });

  it("decides, reopens and answers when it may write, and no page of another server does", async () => {
    const writable = await start("nexus", ["board", "--project", root, "--port", "0", "--write"], { env });
    try {
      const view = await look("plan", writable);
      await view.page.getByLabel("The decision, with its reason").fill("Carry them over once");
      await view.page.getByRole("button", { name: "Decide" }).click();
      await shows(view, "2 of 2 issues decided");
      await shows(view, "issue 2 is decided");
      const plan = JSON.parse(readFileSync(state("plan.json"), "utf8"));
      expect(plan.issues[1]).toMatchObject({ status: "decided", decision: "Carry them over once" });

      await view.page.goto(`${writable.origin}/#/tasks/1`);
      await view.page.getByRole("button", { name: "Reopen this task" }).click();
      await view.page.locator(".task-detail", { hasText: "ready" }).waitFor();
      expect(JSON.parse(readFileSync(state("tasks.json"), "utf8")).tasks[0].status).toBe("pending");

      await view.page.goto(`${writable.origin}/#/now`);
      expect(await view.page.title()).toMatch(/^\(1\) /);
      await view.page.getByLabel("What the next try should do differently").fill("use the other port");
      await expectAccessible(view.page);
      await view.page.getByRole("button", { name: "Answer and go on" }).click();
      const asked = view.page.locator(".consent");
      await asked.waitFor();
      expect(await asked.innerText()).toMatch(/was not started by you here: Wish list[\s\S]*Go on with it\?/);
      await expectAccessible(view.page);
      await view.page.getByRole("button", { name: "Yes, I have read this" }).click();
      await view.page.locator(".act .notice.bad", { hasText: "wish-list.nut" }).waitFor({ timeout: 30_000 });

      const heard = await playOtherServer(view, writable.origin);
      expect(heard.answers).toEqual(["no", "no", "no", "no"]);
      // What the page keeps goes to its own server alone.
      expect(heard.headers.filter((header) => /cookie|nutcracker/i.test(header))).toEqual([]);
      expect(JSON.parse(readFileSync(state("tasks.json"), "utf8")).tasks[1].status).toBe("completed");
    } finally {
      await writable.stop();
    }
  });

  it("stays smooth with a thousand tasks and a hundred agents", async () => {
    const large = join(folder.path, "large");
    write(large, project({ tasks: 1_000, agents: 100 }));
    const serving = await start("nexus", ["board", "--project", large, "--port", "0"], { env });
    try {
      const view = await look("tasks/graph", serving);
      await view.page.waitForSelector(".node", { timeout: 30_000 });
      await shot(view.page, "board-large");
      expect(await view.page.locator(".node").count()).toBeLessThan(120);
      await view.page.getByRole("button", { name: "List", exact: true }).click();
      await view.page.waitForSelector(".task-line");
      expect(await view.page.locator(".task-line").count()).toBeLessThan(80);
      await view.page.getByLabel("Find a task").fill("number 999");
      await shows(view, "Task number 999");
      await expectAccessible(view.page);
    } finally {
      await serving.stop();
    }
  });
});
