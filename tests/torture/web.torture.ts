// Every view of both pages, with a run in every state it can be in, at four widths, light and dark: nothing that axe finds,
// nothing wider than the screen, nothing the page complains of, nothing that only a pointer reaches.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import {
  type Browser,
  findViolations,
  hasChromium,
  openBrowser,
  shot,
  unreachedByKeyboard,
  type Watched,
} from "../web/browser.js";
import { delivery, forged, hostile, request } from "../web/bundles.js";
import { everyState, runOf, STATES, type States } from "../web/every-state.js";
import { write } from "../web/folders.js";
import { project } from "../web/projects.js";
import { type Served, start } from "../web/serving.js";

const WIDTHS = [390, 768, 1180, 1600];
const THEMES = ["light", "dark"] as const;
const MORE = [
  "plan",
  "tasks",
  "tasks/graph",
  "tasks/columns",
  "tasks/1",
  "agents",
  "activity",
  "runs",
  "runs?start=yes",
];
const RUN = ["", "part=prompt", "part=report", "part=diff", "whole=yes"];
const VIEWER = ["overview", "changes", "documents", "files", "apis", "acceptance", "timeline", "access", "more"];
const FILES = ["nutshell.json", "context/requirements.md", "tests/criteria.json", "delivery/logs/execution.log"];

const held = await bwrapAvailable(process.env);

describe.skipIf(!hasChromium || !held)("every view", () => {
  const home = mkdtempSync(join(tmpdir(), "nut-views-"));
  let browser: Browser;
  let states: States;
  const served: Served[] = [];

  beforeAll(async () => {
    states = await everyState(home);
    write(join(home, "busy"), project({ tasks: 60, agents: 7 }));
    write(join(home, "broken"), { ".nexus/state/plan.json": "{ half", ".nexus/state/tasks.json": "[" });
    write(join(home, "request"), request);
    write(join(home, "delivery"), delivery);
    writeFileSync(join(home, "hostile.nut"), forged(hostile));
    browser = await openBrowser();
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    for (const each of served) await each.stop();
    await states?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  async function open(program: "nexus" | "nutshell", args: readonly string[]): Promise<Watched & { origin: string }> {
    const serving = await start(program, [...args, "--port", "0"], { env: { HOME: home } });
    served.push(serving);
    const watched = await browser.page();
    await watched.page.goto(serving.link);
    await watched.page.waitForSelector("main h1");
    return { ...watched, origin: serving.origin };
  }

  /** What is wrong with a view, at every width and in both themes. */
  async function look({ page, origin }: Watched & { origin: string }, name: string, route: string): Promise<string[]> {
    const wrong: string[] = [];
    await page.goto("about:blank");
    await page.goto(`${origin}/#/${route}`);
    await page.waitForSelector("main h1");
    await page.locator(".loading").first().waitFor({ state: "detached", timeout: 20_000 });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 500 ? 780 : 900 });
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(60);
        const place = `${name} ${width} ${colorScheme}`;
        wrong.push(...(await findViolations(page)).map((violation) => `${place}: ${violation}`));
        const wide = (await page.evaluate("document.documentElement.scrollWidth")) as number;
        if (wide > width) wrong.push(`${place}: ${wide} pixels wide`);
        const isKept = (width === 390 && colorScheme === "dark") || (width === 1180 && colorScheme === "light");
        if (isKept) await shot(page, `${name.replaceAll(/[^\w-]+/g, "-")}-${width}-${colorScheme}`);
      }
    }
    wrong.push(...(await unreachedByKeyboard(page)).map((element) => `${name}: no key reaches ${element}`));
    return wrong;
  }

  const boards = new Map<boolean, Watched & { origin: string }>();
  const names = [...STATES, "busy", "broken"];
  const cases = [true, false].flatMap((mayWrite) => names.map((state) => [state, mayWrite] as const));
  it.each(cases)("of the board with %s, may write: %s", { timeout: 1_200_000 }, async (state, mayWrite) => {
    const roots = names.flatMap((name) => ["--project", join(home, name)]);
    const view = boards.get(mayWrite) ?? (await open("nexus", ["board", ...roots, ...(mayWrite ? ["--write"] : [])]));
    boards.set(mayWrite, view);
    const run = runOf(join(home, state));
    const routes = [
      "now",
      ...(run === "" ? [] : RUN.map((part) => `run/${run}?${part}`)),
      // What differs between the two is the forms, and those are on the pages above.
      ...(mayWrite ? MORE : []),
    ];
    const wrong: string[] = [];
    for (const route of routes) {
      const address = `${route}${route.includes("?") ? "&" : "?"}project=${state}`;
      wrong.push(...(await look(view, `${state} ${route.replace(run, "run")} ${mayWrite}`, address)));
    }
    expect(wrong).toEqual([]);
    expect(view.complaints.splice(0)).toEqual([]);
  });

  it("of the viewer", { timeout: 3_600_000 }, async () => {
    const [completed, partial, failed] = ["completed", "partial", "failed"].map((name) => join(home, name));
    const delivered = (root: string) => join(root, readdirSync(root).find((name) => name.endsWith("-delivery.nut"))!);
    const shown: Record<string, string[]> = {
      request: [join(home, "request")],
      delivery: [join(home, "delivery")],
      both: [join(home, "request"), join(home, "delivery")],
      completed: [join(completed!, "task"), delivered(completed!)],
      partial: [delivered(partial!)],
      failed: [join(failed!, "task"), delivered(failed!)],
      hostile: [join(home, "hostile.nut")],
    };
    const wrong: string[] = [];
    for (const [name, paths] of Object.entries(shown)) {
      const view = await open("nutshell", ["serve", ...paths]);
      for (const route of [...VIEWER, ...FILES.map((path) => `files/${path}`)])
        wrong.push(...(await look(view, `${name} ${route}`, route)));
      expect(
        view.complaints.filter((text) => !/Failed to load resource/.test(text)),
        name,
      ).toEqual([]);
      await view.page.close();
    }
    expect(wrong).toEqual([]);
  });
});
