// Our plugins as a person gets them, with their marketplace. Building them takes seconds of a processor, so the files of one
// run of the tests build them once, where its other files lie in memory, and each takes a copy.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporary } from "../temporary.js";
import type { Place } from "./clients.js";
import { ROOT } from "./hook-process.js";

export async function marketIn({ home }: Place): Promise<string> {
  const market = join(home, "market");
  cpSync(await builtOnce(process.env.NUTCRACKER_TESTS_IN_MEMORY), market, { recursive: true });
  return market;
}

async function builtOnce(ofThisRun: string | undefined): Promise<string> {
  if (ofThisRun === undefined) return build(join(temporary("nut-market-"), "market"));
  const market = join(ofThisRun, "market");
  const claim = `${market}-claimed`;
  while (!existsSync(market)) {
    if (!isMade(claim)) await sleep(200);
    else {
      try {
        // Whoever was before us may have ended between the two looks.
        if (!existsSync(market)) renameSync(build(`${market}-beside`), market);
      } finally {
        rmSync(claim, { recursive: true });
      }
    }
  }
  return market;
}

/** Whether the folder was ours to make. */
function isMade(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function build(out: string): string {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/build-hosts.mjs"), "--out", out]);
  if (status !== 0) throw new Error(String(stderr));
  return out;
}
