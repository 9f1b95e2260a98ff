// `nexus board --fleet` in a browser: what the commands say is what the page shows, while it happens.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { temporary } from "../temporary.js";
import { type Browser, expectAccessible, hasChromium, openBrowser, shot, unreachedByKeyboard } from "../web/browser.js";
import { type Served, start } from "../web/serving.js";
import { jumpingClock } from "./clock.js";
import { FleetDesk, type JobRow } from "./desk.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";

const can = hasNats && hasChromium && (await bwrapAvailable(process.env));

describe.skipIf(!can)("a fleet on the board", () => {
  let server: NatsServer;
  let desk: FleetDesk;
  let browser: Browser;
  let served: Served;
  beforeAll(async () => {
    server = await startNats(temporary("nut-nats-"));
    desk = new FleetDesk(server);
    await desk.ask(["init", "--lease", "3s"]);
    browser = await openBrowser();
    served = await start("nexus", ["board", "--fleet", "--server", desk.url, "--port", "0"], {
      cwd: desk.root,
      env: desk.env("watcher", { NATS_URL: "" }),
    });
  });
  afterAll(async () => {
    await browser?.close();
    await served?.stop();
    await desk?.stop();
    await server?.kill();
  });

  it("shows queue, workers and runs as the commands do, and says when the server is away", async () => {
    const { page, complaints } = await browser.page();
    const shows = (text: string | RegExp) => page.locator("main", { hasText: text }).waitFor({ timeout: 20_000 });
    await page.goto(served.link);
    await shows("Nothing was handed in");
    const files = [await desk.request("seen"), await desk.request("waiting"), await desk.request("given-up")];
    await desk.ask(["submit", files[0]!]);
    await desk.ask(["submit", files[1]!, "--label", "gpu"]);
    await desk.ask(["submit", files[2]!, "--label", "gpu"]);
    await desk.ask(["cancel", files[2]!, "--why", "<b>nobody</b> wants it"]);
    await shows("needs gpu");
    await shows("<b>nobody</b> wants it");
    // Its clock is an hour late, which is nobody's business but its own.
    const late = desk.write("late.cjs", jumpingClock(-3_600_000, 0));
    const worker = desk.worker(["--until-empty"], {
      agent: "sh -c 'sleep 1; cp files/wanted.txt files/made.txt; echo made it'",
      extra: { NODE_OPTIONS: `--require=${late}` },
    });
    await shows(/works on task 1/);
    await shows("1 of 1 place taken");
    await shows("at work");
    const { workers } = await desk.ask<{ workers: { silent: boolean }[] }>(["workers"]);
    expect(workers.map(({ silent }) => silent)).toEqual([false]);
    await worker.done;
    await shows("delivered 1");
    const { counts } = await desk.ask<{ counts: Record<string, number> }>(["jobs"]);
    for (const [state, count] of Object.entries(counts))
      expect(await page.getByRole("button", { name: `${state} ${count}`, exact: true }).count(), state).toBe(1);
    await page.getByRole("button", { name: "delivered 1" }).click();
    await page.getByRole("link", { name: "Make seen" }).click();
    const { jobs } = await desk.ask<{ jobs: JobRow[] }>(["jobs", "--state", "delivered"]);
    await shows(`nexus fleet fetch --server ${desk.url} ${jobs[0]!.job} --rerun`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page);
      await shot(page, `fleet-${colorScheme}`);
    }
    expect(await unreachedByKeyboard(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectAccessible(page);
    await shot(page, "fleet-phone");
    await server.kill();
    await shows("does not answer; this is what was last heard");
    await server.start();
    await page.locator("main [role=alert]").waitFor({ state: "detached", timeout: 20_000 });
    await desk.ask(["submit", await desk.request("later")]);
    await shows("Make later");
    expect(complaints).toEqual([]);
  }, 120_000);

  it("is refused by name where there is no fleet, and ends though its server is away", async () => {
    const said = (args: readonly string[]) => start("nexus", ["board", "--port", "0", ...args], { cwd: desk.root });
    await expect(said(["--server", server.url])).rejects.toThrow(`nexus board --fleet --server ${server.url}`);
    await expect(said(["--fleet"])).rejects.toThrow("no server is named for the fleet");
    await expect(said(["--fleet", "--server", "nats://127.0.0.1:1"])).rejects.toThrow("nobody answers there");
    await server.kill();
    const began = performance.now();
    expect(await served.stop()).toBe(143);
    expect(performance.now() - began).toBeLessThan(10_000);
  }, 60_000);
});
