// A hint keeps what was typed: the folder with its spaces and quotes, the flags, the file. Those that are whole commands
// are pasted here.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runNutshell } from "./run-nutshell.js";

const place = mkdtempSync(join(tmpdir(), "nut-hints-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const DIR = "it's a dir";
const WORD = `'it'\\''s a dir'`;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLE = fileURLToPath(new URL("../../examples/1-bug-fix", import.meta.url));

const run = (argv: readonly string[], terminal = false) =>
  runNutshell(argv, { cwd: place, env: { HOME: join(place, "home") }, stdin: Buffer.from("value"), terminal });
const hintOf = async (argv: readonly string[], terminal = false) =>
  /hint: (.*)\n$/.exec((await run(argv, terminal)).err)?.[1] ?? "";
const words = (line: string): string[] =>
  execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" })
    .split("\0")
    .slice(1, -1);

describe("a hint", () => {
  beforeAll(async () => {
    cpSync(EXAMPLE, join(place, DIR), { recursive: true });
    mkdirSync(join(place, "bad dir"));
    writeFileSync(join(place, "bad dir/nutshell.json"), '{"nutshell_version":"0.2.0","bundle_type":"request","id":5}');
    expect((await run(["pack", "--dir", DIR, "-o", "a task.nut"])).code).toBe(0);
  });

  it.each([
    [["check", "bad dir"], `nutshell validate '`, "bad dir' lists everything"],
    [["check", "a task.nut", "--fix"], "nutshell unpack 'a task.nut' -o 'a task'"],
    [["pack", "--dir", DIR, "--encrypt"], `nutshell pack --dir ${WORD} --peer `],
    [["unpack", "a task.nut", "-o", DIR], "mv '", `dir' '`, `dir.old'`],
    [["merge", DIR, DIR, "-o", DIR], "mv '", `dir.old'`],
    [["init", DIR], "nutshell check '", "s a dir' shows what it still needs"],
    [["split", DIR], `nutshell split ${WORD} -n 2`],
    [["split", DIR, "--by-folder"], `nutshell split ${WORD} -n 2`],
    [["set", "task.title", "x", "--append", "--dir", DIR], `nutshell set task.title "<value>" --dir ${WORD}`],
    [["set", "task", "x", "--dir", DIR], `nutshell set task.title "<value>" --dir ${WORD}`],
    [["export", DIR, "-o", DIR], `nutshell export ${WORD} -o '`, "page.html'"],
    [["verify", "a task.nut"], "nutshell finish ", "--request 'a task.nut' makes a delivery"],
    [["reveal", "db", "--dir", DIR], `--dir '`],
    [["check", DIR, "--dir", "other"], "name one of them"],
  ])("of %j keeps it", async (argv, ...parts) => {
    const hint = await hintOf(argv);
    for (const part of parts) expect(hint).toContain(part);
  });

  it("names a credential on a terminal, and the folder it is in", async () => {
    expect(await hintOf(["reveal", "db", "--dir", DIR], true)).toBe(
      `nutshell exec --with db --dir ${WORD} -- sh -c '<command>'`,
    );
  });

  it.each([
    [["set", "task.priority", "High", "--dir", DIR]],
    [["set", "nutshell_version", "9.0.0", "--dir", DIR]],
    [["split", DIR]],
    [["check", "a task.nut", "--fix"]],
    [["add-credential", "--name", "db", "--type", "x", "--dir", DIR, "--value-stdin", "--expires", "7d"]],
  ])("of %j works when pasted", async (argv) => {
    const hint = await hintOf(argv);
    for (const step of hint.split(" && ")) {
      const { code, err } = await run(words(step));
      expect({ step, code, err: err.replace(/^nutshell: warning.*\n/gm, "") }).toEqual({ step, code: 0, err: "" });
    }
  });

  it("about a vault names the folder it is in", async () => {
    cpSync(EXAMPLE, join(place, "my vault"), { recursive: true });
    const dir = ["--dir", "my vault"];
    await run(["keygen"]);
    expect((await run(["add-credential", "--name", "db", "--type", "x", ...dir, "--value-stdin"])).code).toBe(0);
    for (const argv of [
      ["exec", "--with", "other", ...dir, "--", "true"],
      ["rotate", "other", "--replace", ...dir],
    ]) {
      expect(await hintOf(argv)).toBe("nutshell credentials --dir 'my vault'");
    }
    const { findings } = JSON.parse((await run(["credentials", ...dir, "--json"])).out);
    expect(findings[0]).toMatchObject({ fix: "nutshell rotate db --expires 30d --dir 'my vault'" });
    expect((await run(words(findings[0].fix))).code).toBe(0);
    expect(JSON.parse((await run(["credentials", ...dir, "--json"])).out).findings).toEqual([]);
  });

  it("of validate is about what was looked at, packed or not", async () => {
    mkdirSync(join(place, "no title"));
    const manifest = { nutshell_version: "0.2.0", bundle_type: "request", id: "nut-1", task: { summary: "S" } };
    writeFileSync(join(place, "no title/nutshell.json"), JSON.stringify(manifest));
    expect((await run(["pack", "--dir", "no title", "-o", "untitled one.nut", "--force"])).code).toBe(0);
    for (const target of ["untitled one.nut", "no title", "no title/nutshell.json"]) {
      writeFileSync(join(place, "no title/nutshell.json"), JSON.stringify(manifest));
      const { findings } = JSON.parse((await run(["validate", target, "--json"])).out);
      const [{ fix }] = findings.filter(({ code }: { code: string }) => code === "TITLE_MISSING");
      expect((await run(words(fix))).code, fix).toBe(0);
      if (!target.endsWith(".nut")) expect((await run(["validate", target])).code, fix).toBe(0);
    }
    expect((await run(["validate", "untitled one"])).code).toBe(1);
    // What was packed lists its files; a file that is new to the list is no mistake, and packing mends it.
    writeFileSync(join(place, "untitled one/new.txt"), "new\n");
    const { findings } = JSON.parse((await run(["validate", "untitled one", "--json"])).out);
    expect(findings.map(({ fix }: { fix: string }) => fix)).toContain("nutshell pack --dir 'untitled one'");
  });

  it("calls nothing an identity or a peer that is none", async () => {
    expect((await run(["keygen", "-o", DIR])).err).toContain("is there already and is never overwritten");
    expect((await run(["trust", "add", "bob", "--key", "no key"])).err).toContain(
      "no key is neither a file nor a public key",
    );
  });

  it("speaks of no recipients of a vault in clear", async () => {
    const { out } = await run(["rotate", "--encryption", "none", "--dir", DIR]);
    expect(out).toBe("Written in clear, for everyone who has the bundle: credentials/vault.enc.json\n");
    // Said once, by the fix that works.
    const { findings, warnings } = JSON.parse((await run(["check", DIR, "--json"])).out);
    const told = findings.filter(({ path }: { path: string }) => path.startsWith("credentials"));
    expect(told).toMatchObject([{ code: "VAULT_IN_CLEAR", fix: `nutshell rotate --encryption age --dir ${WORD}` }]);
    expect(warnings).toEqual([]);
    expect((await run(words(told[0].fix))).code).toBe(0);
    expect((await run(["check", DIR])).code).toBe(0);
  });

  it("of an empty vault is about the folder that was named", async () => {
    cpSync(EXAMPLE, join(place, "no vault"), { recursive: true });
    const next = "nutshell add-credential --name '<name>' --type '<type>' --dir 'no vault'";
    for (const name of ["credentials", "rotate"]) {
      expect((await run([name, "--dir", "no vault"])).out).toBe(`no credentials\n${next}\n`);
      expect(JSON.parse((await run([name, "--dir", "no vault", "--json"])).out).next).toBe(next);
    }
  });
});

describe("what is told to type", () => {
  it("has no place to fill in that a shell would read or write as a file", () => {
    const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
    const wrong = files
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
      .flatMap((name) =>
        readFileSync(join(ROOT, "src", name), "utf8")
          .split("\n")
          .flatMap((line, at) => (unquotedPlaces(line) ? [`${name}:${at + 1}: ${line.trim()}`] : [])),
      );
    expect(wrong).toEqual([]);
  });

  it.each([
    ['hint: "nutshell inspect <file>",', true],
    ["hint: `name another: -o <file>`,", true],
    ['dim("nexus run <request> -o done.nut")', true],
    ["hint: \"nutshell inspect '<file>'\",", false],
    [`fix: command('set task.title "<what to do>"'),`, false],
    ['about: "nexus run --oracle <dir> takes it",', false],
    ["// nexus run <request>", false],
  ])("would be seen: %s", (line, seen) => expect(unquotedPlaces(line)).toBe(seen));
});

/** Help shows places as usage does, where nobody pastes; a line of source is a comment, help, a message, or may be a hint. */
function unquotedPlaces(line: string): boolean {
  if (/^\s*(?:\/\/|\/?\*)|\babout: |^\s*"(?:The|Keys)|examples|^\s*\["| needs </.test(line)) return false;
  const text = line.replace(/shellWord\(.*?\)|'<[^<>]*>(?:\.\w+)?'|(?<=[\w}-] )"<[^<>]*>(?:,<[^<>]*>)*"/g, "");
  return /(?:\bhint:.*|["`].*\b(?:nutshell|nexus) [a-z].*)<[a-z][a-z0-9 .,…'-]*>/.test(text);
}
