import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { askVersion, versionIn } from "./ask-version.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-version-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(script: string): string {
  const path = join(folder, "program");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const env = { PATH: process.env.PATH };

it("leaves nothing of a program that writes wherever it may, and shows it nothing of the person's", async () => {
  const path = program(
    'mkdir -p "$HOME/.cache/x" here "$TMPDIR/t" ; echo "it 1.2.3 $HOME $PWD $TMPDIR $TOKEN$XDG_CONFIG_HOME"',
  );
  const said = await askVersion({ path, env: { ...env, HOME: folder, XDG_CONFIG_HOME: folder, TOKEN: "t" } });
  const [, version, ...places] = said!.split(" ");
  expect(version).toBe("1.2.3");
  expect(places).toEqual([places[0], places[0], places[0]]);
  expect(existsSync(places[0]!)).toBe(false);
  expect(readdirSync(folder)).toEqual(["program"]);
});

it("says nothing about a program that ends badly or does not start", async () => {
  expect(await askVersion({ path: program("echo 1.2.3; exit 1"), env })).toBeNull();
  expect(await askVersion({ path: join(folder, "nowhere"), env })).toBeNull();
  expect(versionIn("codex-cli 0.166.0 (x)")).toBe("0.166.0");
  expect(versionIn("unknown")).toBeNull();
});
