import { findProgram } from "../process/index.js";
import type { SessionRequest } from "./driver.js";

/** What ends a program that outlives us, where there is such a thing: nobody else may come for a long time. */
export function deadline({ login, timeoutMs, env }: SessionRequest): string[] {
  const timeout = login === "whole" ? findProgram("timeout", env) : null;
  if (timeout === null || timeoutMs === undefined) return [];
  return [timeout, "-s", "KILL", String(Math.ceil(timeoutMs / 1_000) + SPARE_SECONDS)];
}

/** We end it first, and look at what it wrote. */
const SPARE_SECONDS = 15;
