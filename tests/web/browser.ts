// A real browser with a profile of its own, and what the pages are tested with. Everything ends with the test.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

export const CHROMIUM = "/usr/bin/chromium";
export const hasChromium = existsSync(CHROMIUM);

const root = fileURLToPath(new URL("../..", import.meta.url));
const shots = join(root, "test-results", "web");
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface Browser {
  readonly context: BrowserContext;
  page(): Promise<Watched>;
  close(): Promise<void>;
}

/** A page, and everything it complained about or asked for. */
export interface Watched {
  readonly page: Page;
  readonly complaints: string[];
  readonly requests: string[];
}

export async function openBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "nut-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    viewport: { width: 1280, height: 860 },
    colorScheme: "light",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return {
    context,
    page: async () => watched(await context.newPage()),
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

function watched(page: Page): Watched {
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => requests.push(request.url()));
  return { page, complaints, requests };
}

/** Kept beside the run for people to look at; never committed. */
export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`) });
}

export async function expectAccessible(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([]);
}

export async function findViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  });
}

interface Walk {
  readonly stops: number;
  readonly reached: Set<string>;
  /** How often the first stop was met again. */
  rounds: number;
}

const MOST_LEGS = 10;

/** What can be chosen with a pointer is reached with the Tab key alone; what is not, is named. */
export async function unreachedByKeyboard(page: Page): Promise<string[]> {
  const wanted = "a[href], button:not([disabled]), input:not([disabled]), select, textarea, summary, [tabindex='0']";
  await page.evaluate((selector) => {
    const shown = [...document.querySelectorAll<HTMLElement>(selector)].filter(
      (element) =>
        element.checkVisibility({ visibilityProperty: true }) && element.closest("dialog:not([open])") === null,
    );
    // Of a group of radio buttons one is a stop; the arrow keys go on from there.
    const stops = shown.filter((element) => !element.matches("input[type=radio]:not(:checked)"));
    for (const [at, element] of stops.entries()) element.dataset.stop = String(at);
    (document.activeElement as HTMLElement | null)?.blur();
    const walk: Walk = { stops: stops.length, reached: new Set(), rounds: -1 };
    Object.assign(globalThis, { walk });
    document.addEventListener("focusin", ({ target }) => {
      const stop = (target as HTMLElement).dataset.stop ?? "";
      walk.reached.add(stop);
      if (stop === "0") walk.rounds += 1;
    });
  }, wanted);
  // Long lists bring in more rows while one walks through them, so the stops that were counted are not all: the walk ends
  // when it came round, or where something holds it for longer than any page here is long.
  for (let leg = 0; leg < MOST_LEGS; leg += 1) {
    const { stops, isDone } = await page.evaluate(() => {
      const { walk } = globalThis as unknown as { walk: Walk };
      const waiting = [...document.querySelectorAll<HTMLElement>("[data-stop]")];
      const isDone = walk.rounds > 0 || waiting.every(({ dataset }) => walk.reached.has(dataset.stop!));
      return { stops: walk.stops, isDone };
    });
    if (isDone) break;
    for (let at = 0; at < stops + 5; at += 1) await page.keyboard.press("Tab");
  }
  return page.evaluate(() => {
    const { reached } = (globalThis as unknown as { walk: Walk }).walk;
    return [...document.querySelectorAll<HTMLElement>("[data-stop]")]
      .filter(({ dataset }) => !reached.has(dataset.stop!))
      .map(({ outerHTML }) => outerHTML.slice(0, 200));
  });
}

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
