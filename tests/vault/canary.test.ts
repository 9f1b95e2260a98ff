// A hundred secrets through every command: afterwards they are in the vault, encrypted, and nowhere else.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answers, Desk, type Result } from "./run.js";

const desk = new Desk();
afterAll(() => desk.remove());

const canaries = Array.from({ length: 100 }, (_, i) => `canary-${i}-${randomBytes(12).toString("hex")}`);
const said: string[] = [];
const bin = fileURLToPath(new URL("../../bin/nutshell.js", import.meta.url));

/** Runs and keeps everything that was said, for the last test. */
async function run(argv: readonly string[], options: Parameters<Desk["run"]>[1] = {}): Promise<Result> {
  const result = await desk.run(argv, options);
  said.push(result.out, result.err);
  return result;
}

function shapes(text: string): string[] {
  const bytes = Buffer.from(text);
  return [text, bytes.toString("hex"), bytes.toString("base64").slice(0, -4)];
}

function found(where: string | Buffer): string[] {
  const bytes = Buffer.from(where);
  return canaries.filter((canary) => shapes(canary).some((shape) => bytes.includes(shape)));
}

function everyFile(): string[] {
  return readdirSync(desk.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

beforeAll(async () => {
  await run(["keygen"]);
  await run(["keygen", "--peer"]);
  mkdirSync(join(desk.dir, "context"), { recursive: true });
  writeFileSync(join(desk.dir, "context/requirements.md"), "# What to do\n");
  const add = (i: number, ...flags: string[]) => [
    "add-credential",
    "--name",
    `c${i}`,
    "--type",
    "token",
    "--expires",
    "2099-01-01",
    ...flags,
  ];
  for (const [i, canary] of canaries.entries()) {
    const way = i % 4;
    if (way === 0) await run(add(i, "--value-stdin"), { stdin: canary });
    else if (way === 1) await run(add(i, "--value-env", "CANARY", "--json"), { env: { CANARY: canary } });
    else if (way === 2) await run(add(i), { ask: answers({ secret: [canary] }) });
    else
      await run(add(i, "--value-stdin", "--restrict", "tables=users"), {
        stdin: JSON.stringify({ host: "h", password: canary }),
      });
  }
});

describe("canaries", () => {
  it("stay silent when commands succeed", async () => {
    const holder = desk.path("holder");
    cpSync(desk.dir, holder, { recursive: true });
    const bundle = desk.path("b.nut");
    const commands = [
      ["credentials"],
      ["credentials", "--json"],
      ["rotate"],
      ["rotate", "--json"],
      ["rotate", "c1", "--expires", "20d", "--json"],
      ["rotate", "--re-encrypt"],
      ["rotate", "c0", "--export", desk.path("r.json"), "--json"],
      ["apply-rotation", desk.path("r.json"), "--dir", holder, "--json"],
      ["check"],
      ["check", "--json"],
      ["pack", "-o", bundle, "--json"],
      ["compress", "-o", desk.path("c.nut")],
      ["inspect", bundle],
      ["inspect", bundle, "--json"],
      ["validate", bundle, "--json"],
      ["validate", desk.dir],
      ["diff", bundle, bundle],
      ["set", "task.priority", "high"],
      ["unpack", bundle, "-o", desk.path("unpacked")],
      ["split", "-n", "2"],
      ["revoke", "c2", "--json"],
    ];
    for (const command of commands) {
      const { code, err } = await run(command);
      // A command that another part of the product has not brought yet is not this test's business.
      if (err.includes("unknown command")) continue;
      expect(code, `${command.join(" ")}: ${err}`).toBeLessThanOrEqual(1);
    }
  });

  it("stay silent when commands fail", async () => {
    const other = ["--identity", desk.path("other.txt")];
    await run(["keygen", "-o", desk.path("other.txt")]);
    writeFileSync(join(desk.dir, "leak.md"), `${canaries[5]}\n${canaries[7]}\n`);
    expect((await run(["pack", "-o", desk.path("x.nut")])).code).toBe(1);
    expect((await run(["pack", "-o", desk.path("x.nut"), "--json"])).code).toBe(1);
    writeFileSync(join(desk.dir, "leak.md"), "nothing\n");
    await run(["add-credential", "--name", "c1", "--type", "token", "--value-stdin"], { stdin: canaries[9]! });
    await run(["add-credential", "--name", "new", "--type", "token", "--value-stdin"], {
      stdin: `{"broken": "${canaries[9]}`,
    });
    await run(["add-credential", "--name", "new", "--type", "token", "--expires", "never", "--value-stdin", "--json"], {
      stdin: canaries[9]!,
    });
    await run(["reveal", "c1", ...other, "--json"]);
    await run(["reveal", "c1"], { tty: true });
    await run(["rotate", "c1", "--value-stdin", ...other], { stdin: canaries[9]! });
    await run(["exec", "--with", "c1", "--", "no-such-program"]);
    await run(["exec", "--with", "c1", "--", "sh", "-c", `echo ${canaries[1]}`]);
    const vault = join(desk.dir, "credentials/vault.enc.json");
    const good = readFileSync(vault);
    for (const bad of [Buffer.alloc(0), good.subarray(0, good.length - 50), Buffer.from("{}")]) {
      writeFileSync(vault, bad);
      expect((await run(["reveal", "c1", "--json"])).code).toBe(2);
    }
    writeFileSync(vault, good);
  });

  it("are taken out of what a program prints, however it prints them", async () => {
    const some = [1, 3, 5, 7];
    const script =
      "env; env | base64; env | xxd -p 2>/dev/null; env >&2; echo $C1 | rev | rev; printf %s $C5 | od -c | head -1";
    const result = await run(["exec", ...some.flatMap((i) => ["--with", `c${i}`]), "--", "sh", "-c", script]);
    expect(result.code).toBe(0);
    expect(result.out).toContain("[redacted:c1]");
    expect(result.out).toContain("[redacted:c3]");
  });

  it.skipIf(spawnSync("strace", ["-V"]).status !== 0)("are in no argument of any process (strace)", () => {
    mkdirSync(desk.path("bin"), { recursive: true });
    const double = fileURLToPath(new URL("sops-double.mjs", import.meta.url));
    if (!existsSync(desk.path("bin/sops"))) symlinkSync(double, desk.path("bin/sops"));
    const env = { ...desk.env, PATH: `${desk.path("bin")}:${process.env.PATH}` };
    const trace = desk.path("trace");
    const sops = desk.folder(desk.path("sops-task"));
    const start = (argv: string[], input: string) =>
      spawnSync(
        "strace",
        ["-f", "-qq", "-s", "100000", "-e", "trace=execve", "-A", "-o", trace, process.execPath, bin, ...argv],
        { cwd: desk.dir, env, input, encoding: "utf8" },
      );
    const results = [
      start(
        [
          "add-credential",
          "--dir",
          sops,
          "--name",
          "s",
          "--type",
          "token",
          "--encryption",
          "sops",
          "--value-stdin",
          "--expires",
          "2099-01-01",
        ],
        canaries[11]!,
      ),
      start(["exec", "--with", "c4", "--", "sh", "-c", "true; env"], ""),
    ];
    for (const { status, stdout, stderr } of results) {
      expect(status, stderr).toBe(0);
      said.push(stdout, stderr);
    }
    expect(readFileSync(trace, "utf8")).toContain("execve");
    expect(found(readFileSync(trace))).toEqual([]);
  });

  it("are found nowhere: not in what was said, not on disk, not inside bundles", () => {
    expect(found(said.join("\n"))).toEqual([]);
    expect(said.join("\n")).not.toMatch(/AGE-SECRET-KEY-1/);
    const places = everyFile().flatMap((path) => {
      const bytes = readFileSync(path);
      const inside = bytes.subarray(0, 4).toString("latin1") === "NUT\x01" ? gunzipSync(bytes.subarray(4)) : bytes;
      return found(inside).map((canary) => `${path}: ${canary}`);
    });
    expect(places).toEqual([]);
  });
});
