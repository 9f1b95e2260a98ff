import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { probeDriver, requireProgram } from "./probe.js";

const folder = mkdtempSync(join(tmpdir(), "nut-probe-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("asks a program for its version once, and again when it is another file", async () => {
  const [program, log] = [join(folder, "codex"), join(folder, "log")];
  const install = (version: string) => {
    rmSync(program, { force: true });
    writeFileSync(program, `#!/bin/sh\necho asked >> ${log}\necho "codex-cli ${version}"\n`);
    chmodSync(program, 0o755);
  };
  const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: folder };
  const times = () => readFileSync(log, "utf8").trim().split("\n").length;
  install("0.166.0");
  expect(await probeDriver("codex", env)).toMatchObject({ path: program, version: "0.166.0", usable: true });
  expect(await requireProgram("codex", env)).toBe(program);
  expect(times()).toBe(1);
  install("0.166.10");
  await requireProgram("codex", env);
  expect(times()).toBe(2);
  expect(await probeDriver("codex", env)).toMatchObject({ note: "codex 0.166.10 was not tried; 0.166.0 was" });
  install("0.1.0");
  await expect(requireProgram("codex", env)).rejects.toMatchObject({ code: "DRIVER_TOO_OLD" });
  await expect(requireProgram("codex", env)).rejects.toMatchObject({ code: "DRIVER_TOO_OLD" });
  rmSync(program);
  await expect(requireProgram("codex", { ...env, PATH: folder })).rejects.toMatchObject({ code: "DRIVER_MISSING" });
});
