import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { isAlive } from "./is-alive.js";

it("knows the living from those that are gone", () => {
  expect([isAlive(process.pid), isAlive(2 ** 22 + 1)]).toEqual([true, false]);
});

it.skipIf(process.platform !== "linux")("takes one that has ended and was not collected for gone", async () => {
  // sleep takes the shell's place and never asks what became of its child.
  const parent = spawn("sh", ["-c", "sleep 0.2 & echo $!; exec sleep 20"], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [text] = await once(parent.stdout, "data");
    const pid = Number(String(text));
    for (let tries = 0; isAlive(pid) && tries < 200; tries += 1) await sleep(10);
    expect(() => process.kill(pid, 0)).not.toThrow();
    expect(isAlive(pid)).toBe(false);
  } finally {
    parent.kill("SIGKILL");
  }
});
