import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { here } from "../run/here.js";
import {
  type Browser,
  expectAccessible,
  hasChromium,
  openBrowser,
  shot,
  unreachedByKeyboard,
  type Watched,
} from "./browser.js";
import { BLUE_PIXEL, delivery, forged, hostile, request, SECRET } from "./bundles.js";
import { temporary, write } from "./folders.js";
import { type Served, start } from "./serving.js";

describe.skipIf(!hasChromium)("the viewer in a browser", () => {
  const folder = temporary();
  const at = (name: string) => join(folder.path, name);
  let browser: Browser;
  const served: Served[] = [];
  const nutshell = (...args: string[]) => here("nutshell", folder.path, args);

  beforeAll(async () => {
    write(at("request"), request);
    write(at("delivery"), delivery);
    writeFileSync(at("hostile.nut"), forged(hostile));
    for (const name of ["request", "delivery"]) {
      const packed = await nutshell("pack", "--dir", at(name), "-o", at(`${name}.nut`), "--force");
      if (packed.status !== 0) throw new Error(packed.stderr);
    }
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    for (const each of served) await each.stop();
    folder.remove();
  });

  // Neither a page nor its server goes on with anything while another is looked at.
  afterEach(async () => {
    for (const page of browser.context.pages().slice(1)) await page.close();
    for (const each of served.splice(0)) await each.stop();
  });

  async function look(...args: string[]): Promise<Watched & { origin: string; go: (route: string) => Promise<void> }> {
    const serving = await start("nutshell", ["serve", ...args, "--port", "0"]);
    served.push(serving);
    const watched = await browser.page();
    await watched.page.goto(serving.link);
    await watched.page.waitForSelector("h1");
    const go = async (route: string) => {
      await watched.page.goto(`${serving.origin}/#/${route}`);
      await watched.page.waitForSelector("main h1, main h2");
    };
    return { ...watched, origin: serving.origin, go };
  }

  /** Of the server, or of the page itself. */
  const isOwn = (url: string, origin: string) =>
    [origin, "data:", `blob:${origin}`].some((start) => url.startsWith(start));

  const text = (watched: Watched) => watched.page.locator("main").innerText();

  it("shows the facts of a request", async () => {
    const view = await look(at("request.nut"));
    await view.page.waitForSelector(".findings");
    expect(await view.page.locator("h1").innerText()).toBe("Give the shop a wish list");
    const overview = await text(view);
    for (const fact of [
      "high priority",
      "6 h",
      "People keep what they want",
      "Mira Holm",
      "typescript",
      "region: north",
    ])
      expect(overview).toContain(fact);
    for (const fact of [
      "Do not modify files outside files/src/",
      "The ticket",
      "incomplete",
      "10 files with a checked hash",
    ])
      expect(overview).toContain(fact);
    expect(overview).toMatch(/credentials\.scopes\.old-token.*\n?.*expired/i);
    await expectAccessible(view.page);
    await shot(view.page, "request-overview");

    await view.go("documents");
    await view.page.waitForSelector(".markdown td");
    expect(await text(view)).toContain("A wish has one owner.");
    await view.go("documents/context/architecture.md");
    const picture = view.page.locator(".markdown img");
    await picture.waitFor();
    expect(
      await picture.evaluate(async (element) => {
        const image = element as unknown as { decode(): Promise<void>; naturalWidth: number };
        await image.decode();
        return image.naturalWidth;
      }),
    ).toBe(1);

    await view.go("files/files/src/wish.ts");
    await view.page.waitForSelector(".hljs-keyword");
    expect(await text(view)).toContain("export const wish");
    expect(await text(view)).toMatch(/hash checked/);
    await expectAccessible(view.page);
    await shot(view.page, "request-files");

    await view.go("apis");
    expect(await text(view)).toMatch(/POST\s*\/wishes[\s\S]*Keep a wish[\s\S]*schemas\/wish\.json/);
    await view.go("acceptance");
    expect(await text(view)).toMatch(/open[\s\S]*AC-1 A wish is kept[\s\S]*exit_code[\s\S]*A wish survives a restart/);
    await view.go("access");
    expect(await text(view)).toMatch(/shop-db\s+postgresql\s+read-write[\s\S]*valid[\s\S]*old-token[\s\S]*expired/);
    await expectAccessible(view.page);
    await view.go("more");
    expect(await text(view)).toMatch(/Extension: board[\s\S]*"card": 7/);
    expect(view.complaints).toEqual([]);
    expect(view.requests.filter((url) => !isOwn(url, view.origin))).toEqual([]);
  });

  it("shows what a delivery claims, with the evidence for it", async () => {
    const view = await look(at("delivery.nut"));
    await view.page.waitForSelector(".band");
    const overview = await text(view);
    // A delivery that names one criterion and counts four is taken by what it names.
    for (const fact of [
      "partial",
      "Wishes are kept; sharing is left.",
      "0 of 1 hold, 1 fails",
      "checklist: 1 of 1 item passed",
      "AC-1 A wish is kept",
      "nutshell verify",
      "some agent",
      "45,000",
      "80 %",
    ])
      expect(overview).toContain(fact);
    expect(overview).not.toContain("Completeness");
    expect(overview).toContain("nut-11111111-2222-4333-8444-555555555555");
    await view.go("acceptance");
    expect(await text(view)).toMatch(/failed[\s\S]*AC-1[\s\S]*the second wish was lost/);
    expect(await text(view)).toMatch(/passed[\s\S]*A wish survives a restart[\s\S]*only the agent claims it/);
    await expectAccessible(view.page);
    await view.go("timeline");
    expect(await text(view)).toMatch(/The table is there[\s\S]*One table for all wishes[\s\S]*There are few of them/);
    for (const fact of ["staging was down", "used shop-db"]) expect(await text(view)).toContain(fact);
    await expectAccessible(view.page);
    await shot(view.page, "delivery-timeline");
    expect(view.complaints).toEqual([]);
  });

  it("lays a delivery over its request, line beside line", async () => {
    const view = await look(at("request.nut"), at("delivery.nut"));
    await view.go("changes");
    await view.page.waitForSelector(".change-list");
    await view.page.locator(".change-list .sum").first().waitFor();
    const told = await view.page.locator('.change-list [role="listitem"]').allInnerTexts();
    expect(told.map((text) => text.replace(/\s+/g, " ").trim())).toEqual([
      expect.stringMatching(/^files\/src \+\d+ −\d+$/),
      expect.stringMatching(/^A ?added store\.ts \+\d+ −0$/),
      expect.stringMatching(/^M ?changed wish\.ts \+1 −1$/),
    ]);
    await view.go("changes/files/src/wish.ts");
    await view.page.waitForSelector(".drow.changed");
    expect(await view.page.locator(".drow.changed .left").innerText()).toContain("(title: string) =>");
    expect(await view.page.locator(".drow.changed .right").innerText()).toContain("owner: string");
    expect((await view.page.locator(".drow.changed .right mark").allInnerTexts()).join("")).toContain("owner");
    await view.page.locator(".drow .hljs-keyword").first().waitFor();
    await view.page.keyboard.press("n");
    await view.page.waitForSelector(".drow.at");
    await expectAccessible(view.page);
    await shot(view.page, "changes");
    // A tick stays, and the address too.
    await view.page.keyboard.press("v");
    await view.page.locator(".change-side", { hasText: "1 of 2 viewed" }).waitFor();
    await view.page.getByLabel("Find in names and lines").fill("owner");
    await view.page.locator(".diff-keys", { hasText: "1 line with “owner”" }).waitFor();
    await view.page.reload();
    await view.page.locator(".change-side", { hasText: "1 of 2 viewed" }).waitFor();
    expect(await view.page.getByLabel("Find in names and lines").inputValue()).toBe("owner");
    await view.page.getByLabel("Find in names and lines").fill("");
    await view.page.locator("h1").click();
    await view.page.keyboard.press("k");
    await view.page.waitForSelector(".drow.added");
    expect(view.page.url()).toContain("changes/files/src/store.ts");
    await view.page.locator(".file-change h2", { hasText: "store.ts" }).waitFor();
    await view.page.keyboard.press("j");
    await view.page.locator(".file-change h2", { hasText: "wish.ts" }).waitFor();
    await view.page.setViewportSize({ width: 900, height: 800 });
    await view.page.waitForSelector(".dlines:not(.split) .drow.removed");
    await expectAccessible(view.page);
    // Everything is found from anywhere.
    await view.page.keyboard.press("/");
    await view.page.getByRole("dialog").getByLabel("Search everything").fill("owner");
    await view.page.locator(".found a", { hasText: "content" }).first().waitFor();
    await expectAccessible(view.page);
    await view.page.keyboard.press("Escape");
    await view.page.locator(".found").waitFor({ state: "detached" });
    await view.page.keyboard.press("?");
    await view.page.getByRole("dialog", { name: "keys" }).waitFor();
    await view.page.keyboard.press("Escape");
    // Which of the two is looked at is in the address, and stays from view to view.
    await view.page.getByRole("button", { name: "request.nut" }).click();
    await view.page.locator("nav a", { hasText: "Overview" }).click();
    await view.page.locator("main", { hasText: "Mira Holm" }).waitFor();
    expect(view.complaints).toEqual([]);
  });

  it("runs nothing of a hostile bundle and lets nothing out", async () => {
    const view = await look(at("hostile.nut"));
    const routes = [
      "overview",
      "documents",
      "files/files/evil.svg",
      "files/files/evil.html",
      "files/files/not-a.png",
      "access",
      "more",
    ];
    for (const route of [
      ...routes,
      `files/${encodeURIComponent("files/</script><script>window.hacked=16</script>.txt")}`,
    ]) {
      await view.go(route);
      await view.page.waitForTimeout(150);
      expect(await view.page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
      expect(await view.page.locator("main iframe, main script, main object, main embed, main form").count()).toBe(0);
      const links = await view.page
        .locator("a")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
      expect(links.filter((href) => !/^(#|https?:|mailto:|\/file\/)/.test(href))).toEqual([]);
      expect(await view.page.content()).not.toContain(SECRET);
    }
    await view.go("overview");
    expect(await view.page.locator("h1").innerText()).toContain("\\u{202e}txt.exe");
    expect(await view.page.title()).toContain("</script>");
    await view.go("documents");
    await view.page.waitForSelector(".markdown");
    await view.page.waitForSelector(".markdown .leads-to");
    for (const fact of ["<script>window.hacked=1</script>", "leads to evil.example", "http://example.com/spy.png"])
      expect(await text(view)).toContain(fact);
    expect(await view.page.locator(".markdown img").count()).toBe(0);
    // What takes a parser for ever is ended, and shown as it is; meanwhile the page answers.
    await view.go("files/files/slow.js");
    await view.page.waitForSelector(".code");
    await view.go("documents/context/slow.md");
    await view.page.waitForSelector(".as-is");
    const since = Date.now();
    await view.page.evaluate(() => 1);
    expect(Date.now() - since).toBeLessThan(1_000);
    await view.page.locator(".markdown .notice", { hasText: "it takes too long to format" }).waitFor();
    await view.go("documents");
    await view.page.waitForSelector(".markdown .leads-to");
    await view.go("files/files/evil.svg");
    await view.page.waitForSelector(".code");
    expect(await text(view)).toContain('onload="window.hacked=13"');
    await shot(view.page, "hostile");
    expect(view.requests.filter((url) => !isOwn(url, view.origin))).toEqual([]);
    expect(view.complaints.filter((text) => !/not-a\.png|Failed to load resource/.test(text))).toEqual([]);
  });

  it("is one self-contained page when exported, script and all", async () => {
    for (const name of ["request", "hostile"]) {
      const made = await nutshell("export", at(`${name}.nut`), "-o", at(`${name}.html`), "--json");
      expect(made.status).toBe(0);
      const view = await browser.page();
      await view.page.goto(pathToFileURL(at(`${name}.html`)).href);
      await view.page.waitForSelector("h1");
      expect(await view.page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
      expect(view.requests.filter((url) => !/^(?:file|data|blob):/.test(url))).toEqual([]);
      expect(await view.page.content()).not.toContain(SECRET);
      if (name === "request") {
        expect(await view.page.locator("h1").innerText()).toBe("Give the shop a wish list");
        await view.page.getByRole("link", { name: /Files/ }).click();
        await view.page.getByRole("treeitem", { name: "wish.ts" }).click();
        await view.page.waitForSelector(".hljs-keyword");
        await expectAccessible(view.page);
        await shot(view.page, "exported");
        expect(view.complaints).toEqual([]);
      }
    }
    const again = await nutshell("export", at("request.nut"), "-o", at("request.html"), "--json");
    expect([again.status, JSON.parse(again.stderr).error.code]).toEqual([2, "FILE_EXISTS"]);
  });

  it("holds a request and its delivery when both are exported, every change and picture with them", async () => {
    const said = delivery["delivery/result.json"] as { acceptance_results: { checklist: object[] } };
    const judged = { judged_by: "Ada", judged_at: "2026-01-07T00:00:00Z", evidence: "judged", status: "passed" };
    const checklist = said.acceptance_results.checklist.map((row) => ({ ...row, ...judged }));
    write(at("pictured"), {
      ...delivery,
      "delivery/artifacts/files/assets/sketch.png": BLUE_PIXEL,
      "delivery/result.json": {
        ...said,
        ...{ completion_percentage: 100, acceptance_results: { ...said.acceptance_results, checklist } },
      },
    });
    const made = await nutshell("export", at("request"), at("pictured"), "-o", at("both.html"), "--json");
    expect(made.status).toBe(0);
    const view = await browser.page();
    await view.page.goto(pathToFileURL(at("both.html")).href);
    await view.page.waitForSelector(".band");
    const overview = await text(view);
    // What somebody says of themselves is not repeated as if it were so.
    expect(overview).toContain("Written before Ada judged it.");
    expect(overview).not.toContain("100 %");
    expect(overview).not.toMatch(/completed\s*6 Jan/);
    await view.page.getByRole("link", { name: "Acceptance" }).first().click();
    // How it is checked stands in the request.
    await view.page.locator("main", { hasText: "tests/run.sh" }).waitFor();
    expect(await text(view)).toContain("./tests/run.sh");
    await view.page.getByRole("link", { name: "Changes" }).click();
    await view.page.locator(".change-row", { hasText: "sketch.png" }).click();
    await view.page.waitForSelector(".pictures img >> nth=1");
    const widths = await view.page.locator(".pictures img").evaluateAll(async (all) => {
      const images = all as unknown as { decode(): Promise<void>; naturalWidth: number }[];
      for (const image of images) await image.decode();
      return images.map(({ naturalWidth }) => naturalWidth);
    });
    expect(widths).toEqual([1, 2]);
    for (const [name, kind] of [
      ["wish.ts", ".drow.changed"],
      ["store.ts", ".drow.added"],
    ] as const) {
      await view.page.locator(".change-row", { hasText: name }).click();
      await view.page.locator(".file-change h2", { hasText: name }).waitFor();
      await view.page.waitForSelector(kind);
    }
    await expectAccessible(view.page);
    expect(await unreachedByKeyboard(view.page)).toEqual([]);
    expect(view.complaints).toEqual([]);
    expect(view.requests.filter((url) => !/^(?:file|data|blob):/.test(url))).toEqual([]);
  });

  it("can be used with the keyboard alone, narrow and dark", async () => {
    const serving = await start("nutshell", ["serve", at("request.nut"), "--port", "0"]);
    served.push(serving);
    const { page } = await browser.page();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 390, height: 780 });
    await page.goto(serving.link);
    await page.waitForSelector(".findings");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await expectAccessible(page);
    await shot(page, "narrow-dark");
    // A table that is wider than the screen moves under the keyboard too.
    await page.goto(`${serving.origin}/#/access`);
    await page.waitForSelector("td");
    await expectAccessible(page);
    await page.goto(`${serving.origin}/#/files`);
    await page.locator('[role="tree"]').focus();
    for (let at = 0; at < 40; at += 1) {
      const active = page.locator(".row.active .name");
      if ((await active.innerText()) === "wish.ts") break;
      await page.keyboard.press("ArrowDown");
    }
    await page.keyboard.press("Enter");
    await page.waitForSelector(".hljs-keyword");
    expect(page.url()).toContain("#/files/files/src/wish.ts");
    await expectAccessible(page);
  });
});
