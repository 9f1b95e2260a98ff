// `npm start` as somebody runs it in a fresh clone: in a copy, with a home and a temporary folder of its own.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { contentDigest } from "../../src/bundle/index.js";
import { root } from "./installed.js";

const place = mkdtempSync(join(tmpdir(), "nutcracker-start-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

it("npm start does the main job, says where the result is, and changes nothing but that", () => {
  const clone = join(place, "clone");
  for (const name of ["bin", "core", "dist", "examples", "schemas", "scripts", "package.json"]) {
    cpSync(join(root, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  for (const name of ["home", "tmp", "npm"]) mkdirSync(join(place, name));
  const example = join(clone, "examples/2-feature");
  // What lies behind node_modules is everybody's, and other tests are at work there. What Node compiled is kept in .cache, as by any command.
  const own = (path: string) => !/^(?:node_modules\/|\.cache(?:\/compiled|$))/.test(path);
  const seen = () => ({
    files: readdirSync(clone, { recursive: true, encoding: "utf8" }).filter(own),
    example: contentDigest(example),
  });
  const before = seen();

  const { status, stdout, stderr } = spawnSync("npm", ["start"], {
    cwd: clone,
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      HOME: join(place, "home"),
      TMPDIR: join(place, "tmp"),
      npm_config_cache: join(place, "npm"),
      npm_config_update_notifier: "false",
    },
  });
  expect(status, stdout + stderr).toBe(0);
  expect(stdout).toContain("completed (100 %)");
  expect(stdout).toMatch(/verified: completed\n/);
  const delivery = /^The delivery is (.+)$/m.exec(stdout)?.[1] ?? "";
  const [made, ...others] = readdirSync(join(place, "tmp"));
  expect(others).toEqual([]);
  expect(delivery).toBe(join(place, "tmp", made!, "delivery.nut"));
  expect(readdirSync(join(place, "home"))).toEqual([]);
  expect(seen()).toEqual(before);
}, 120_000);
