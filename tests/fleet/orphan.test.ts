// A run that a worker started ends with the worker, however that ends; by itself it knows nothing of it.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { environment, root, stateOf } from "../run/program.js";
import { helloRequest, scratch, sweep } from "../run/scripted.js";

afterAll(sweep);

describe("a run whose starter holds its input [P8]", () => {
  it("pauses when that is gone, and can go on", async () => {
    const cwd = join(scratch(), "project");
    mkdirSync(cwd);
    const request = helloRequest(cwd);
    const words = [
      "run",
      request,
      "--driver",
      "command",
      "--command",
      "sh -c 'sleep 60'",
      "--yes",
      "--json",
      "-o",
      "out.nut",
    ];
    const env = { ...environment(cwd), NUTCRACKER_STOP_WITH_INPUT: "1" };
    const child = spawn(process.execPath, [join(root, "bin/nexus.js"), ...words], {
      cwd,
      env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const ended = new Promise<number | null>((done) => child.once("exit", done));
    await new Promise<void>((done) => child.stdout.on("data", (text) => /agent_started/.test(String(text)) && done()));
    await sleep(300);
    child.stdin.destroy();
    expect(await ended).toBe(143);
    expect(stateOf(cwd).paused?.reason).toBe("interrupted");
  }, 30_000);
});
