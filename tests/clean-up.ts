import { afterAll, expect } from "vitest";
import { sweepTemporary } from "./temporary.js";

/** What writes most, and says nothing of the disk: its times, inodes, links and layers, and what is left on it. */
const IN_MEMORY = /[\\/]tests[\\/](?:acceptance|docs|fleet|import|liars|market|package|run|statements|web)[\\/]/;
const ON_DISK = /[\\/]tests[\\/]run[\\/]layers\.test\.ts$/;

// A worker runs many files: each is told anew.
const memory = process.env.NUTCRACKER_TESTS_IN_MEMORY;
const path = expect.getState().testPath ?? "";
if (memory !== undefined) {
  if (IN_MEMORY.test(path) && !ON_DISK.test(path)) process.env.TMPDIR = memory;
  else delete process.env.TMPDIR;
}

afterAll(sweepTemporary);
