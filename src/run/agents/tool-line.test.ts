import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { temporary } from "../../../tests/temporary.js";
import { openToolLine } from "./tool-line.js";

/** A server that notes its number when it starts, and stays until its input ends. */
function noted() {
  const file = join(temporary("nut-line-"), "started");
  const script = `require("node:fs").appendFileSync(process.env.STARTED, process.pid + "\\n"); process.stdin.resume(); process.stdin.pipe(process.stdout);`;
  const pids = () =>
    existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .filter((text) => text !== "")
          .map(Number)
      : [];
  const line = (isExpected: boolean) =>
    openToolLine({ tools: { command: process.execPath, args: ["-e", script] }, env: { STARTED: file }, isExpected });
  return { line, pids };
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !holds(); tries += 1) await sleep(20);
  expect(holds()).toBe(true);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a server for an agent's tools", () => {
  it("is started by the first who asks, where nobody is expected to", async () => {
    const { line, pids } = noted();
    const open = await line(false);
    await sleep(100);
    const connection = connect(open.socket);
    connection.write("tools/list\n");
    await until(() => pids().length === 1 && open.isListed());
    connection.end();
    await open.close();
    expect(pids()).toHaveLength(1);
  });

  it("is there before anybody asks where somebody will, and gone when nobody did", async () => {
    const { line, pids } = noted();
    const open = await line(true);
    await until(() => pids().length === 1);
    await open.close();
    await until(() => !isAlive(pids()[0]!));
  });

  it("is not started for an agent that never asks", async () => {
    const { line, pids } = noted();
    const open = await line(false);
    await sleep(300);
    await open.close();
    expect(pids()).toEqual([]);
  });
});
