// check, validate, pack and set are one opinion: what set writes is valid, what check calls ready is valid and packs,
// and every fix that check prints can be pasted. Every field of the manifest is tried with values of the wrong kind.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Manifest } from "../../src/schema/manifest.js";
import { runNutshell } from "./run-nutshell.js";

const place = mkdtempSync(join(tmpdir(), "nut-agree-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const HOME = join(place, "home");
const FOLDER = "it's a task";
const folder = join(place, FOLDER);

const run = (argv: readonly string[], stdin?: string) =>
  runNutshell(argv, { cwd: place, env: { HOME }, ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }) });

const TOKEN = `ghp_${"a1B2".repeat(9)}`;
const ID = "nut-1";
const base = () => ({
  nutshell_version: "0.2.0",
  bundle_type: "request",
  id: ID,
  task: { title: "T", summary: "S" },
  tags: { skills_required: ["go"] },
});

function write(manifest: object, files: Readonly<Record<string, string>> = {}): string {
  rmSync(folder, { recursive: true, force: true });
  const text = JSON.stringify(manifest);
  for (const [path, content] of Object.entries({ "nutshell.json": text, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return text;
}

/** Words of a validator, of a machine or of nobody. */
const RAW =
  /\breceived\b|expected \w+,|Invalid input|ZodError|undefined|\[object|\bat \S+:\d+:\d+|another form|known form/;

interface Def {
  readonly type: string;
  readonly innerType?: { def: Def };
  readonly shape?: Readonly<Record<string, { def: Def }>>;
  readonly element?: { def: Def };
  readonly valueType?: { def: Def };
}

/** Every field there is, with its type. */
function fields({ def }: { def: Def }, path: readonly string[] = []): { path: readonly string[]; type: string }[] {
  const { type, innerType, shape = {}, element, valueType } = def;
  if (innerType !== undefined) return fields(innerType, path);
  return [
    ...(path.length === 0 ? [] : [{ path, type }]),
    ...Object.entries(shape).flatMap(([key, below]) => fields(below, [...path, key])),
    ...(element === undefined ? [] : fields(element, [...path, "0"])),
    ...(valueType === undefined ? [] : fields(valueType, [...path, "key"])),
  ];
}
const FIELDS = fields(Manifest as unknown as { def: Def });

function put(root: object, path: readonly string[], value: unknown): void {
  let at = root as Record<string, unknown>;
  for (const [index, key] of path.slice(0, -1).entries()) {
    at[key] ??= path[index + 1] === "0" ? [] : {};
    at = at[key] as Record<string, unknown>;
  }
  at[path.at(-1)!] = value;
}

const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  string: [5, "", "../x", "March 5", "\u001b[31m", "a".repeat(300)],
  number: ["1", -1, 35, 1e9],
  int: [1.5, -1, "1"],
  boolean: ["true", null],
  enum: ["High", 3],
  array: ["a", {}, [null]],
  object: ["a", []],
  record: ["a", { k: 5 }],
};

describe("what is said of one manifest", () => {
  it("is the same everywhere, for every field and wrong value", async () => {
    const cases = FIELDS.map(({ path, type }, index) => {
      const values = WRONG[type] ?? [5, null];
      return { path, value: values[index % values.length] };
    });
    for (const { path, value } of cases) {
      const manifest = base();
      put(manifest, path, value);
      write(manifest);
      const check = await run(["check", FOLDER]);
      const validate = await run(["validate", FOLDER]);
      const pack = await run(["pack", "--dir", FOLDER, "-o", "out.nut"]);
      const told = `${path.join(".")} = ${JSON.stringify(value)}\n${check.out}${check.err}${validate.out}${pack.err}`;
      expect(
        [check.code, validate.code, pack.code].every((code) => code <= 2),
        told,
      ).toBe(true);
      expect(told).not.toMatch(RAW);
      expect(pack.code === 0, told).toBe(check.code === 0);
      if (check.code === 0) expect(validate.code, told).toBe(0);
    }
  }, 60_000);

  it("lets a warning hide no error of the same field", async () => {
    write({ ...base(), harness: { context_budget_hint: -3 } });
    const { status, findings } = JSON.parse((await run(["check", FOLDER, "--json"])).out);
    expect(status).toBe("incomplete");
    expect(findings[0]).toMatchObject({ severity: "error", message: "must be at least 0" });
  });

  it.each([
    ["a token in a file", { "files/app.ts": `one\nconst key = "${TOKEN}";\n` }, "files/app.ts", "in line 2: "],
    ["a file that is a secret by its name", { "files/.env": "A=1\n" }, "files/.env", "what looks like a secret: "],
    ["a token in the manifest", { "nutshell.json": JSON.stringify({ ...base(), notes: TOKEN }) }, "nutshell.json", ""],
  ])("is ready only when nothing holds it back: %s", async (_, files, path, words) => {
    write(base(), files);
    const pack = (...flags: string[]) => run(["pack", "--dir", FOLDER, "-o", "out.nut", ...flags]);
    const check = await run(["check", FOLDER, "--json"]);
    const { status, missing, findings } = JSON.parse(check.out);
    expect([check.code, status, missing]).toEqual([1, "incomplete", [path]]);
    expect(findings.filter(({ severity }: { severity: string }) => severity === "error")).toEqual([
      expect.objectContaining({ code: "LEAK_FOUND", severity: "error", path, message: expect.stringContaining(words) }),
    ]);
    expect(check.out).not.toContain(TOKEN);
    expect((await pack()).code).toBe(1);
    expect((await run(["check", FOLDER, "--allow", path])).code).toBe(0);
    expect((await pack("--allow", path)).code).toBe(0);
  });

  it("calls a draft with another mistake in it no bundle", async () => {
    write({ ...base(), task: { title: "(say what to do, in one line)", summary: "S", priority: "High" } });
    const refused = await run(["pack", "--dir", FOLDER, "-o", "out.nut"]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("task.priority: must be one of");
  });
});

describe("set", () => {
  const VALUES = ["", "x", "35", "-1", "[1]", "{}", '{"__proto__":1}', "../x", "/etc", "9.0.0", "\0", "C:\\x"];

  it("writes what validate and pack take, or nothing", async () => {
    const cases = FIELDS.map(({ path }, index) => ({
      field: path.join("."),
      value: VALUES[index % VALUES.length]!,
    }));
    for (const { field, value } of cases) {
      const before = write(base());
      const set = await run(["set", field, "--dir", FOLDER, "--", value]);
      const told = `set ${field} ${JSON.stringify(value)}: ${set.err}`;
      expect([0, 2], told).toContain(set.code);
      expect(told).not.toMatch(RAW);
      if (set.code === 2) expect(readFileSync(join(folder, "nutshell.json"), "utf8"), told).toBe(before);
      else {
        expect(await run(["validate", FOLDER]), told).toMatchObject({ code: 0 });
        expect(await run(["pack", "--dir", FOLDER, "-o", "out.nut", "--force"]), told).toMatchObject({ code: 0 });
      }
    }
  }, 60_000);

  it("says of what it took away that it is gone", async () => {
    write({ ...base(), tags: { skills_required: ["go", "rest"] } });
    expect((await run(["set", "tags.skills_required.0", "--unset", "--dir", FOLDER])).out).toBe(
      "tags.skills_required.0 = (removed)\n",
    );
  });
});

const VAULT = JSON.stringify({ vault_version: "1.0", credentials: [{ name: "db", type: "token", value: "v" }] });
const vault = (encryption: string) => ({
  credentials: {
    vault: "credentials/vault.enc.json",
    encryption,
    scopes: [{ name: "db", type: "token", expires_at: "2026-12-31T00:00:00Z" }],
  },
});
const criteria = (...rows: object[]) => JSON.stringify({ criteria: rows });
const shell = { type: "shell", command: "true" };

const BROKEN: [string, object, Record<string, string>?][] = [
  ["a priority in capitals", { task: { title: "T", summary: "S", priority: "High" } }],
  ["a budget in percent", { harness: { context_budget_hint: 35 } }],
  ["a budget below nothing", { harness: { context_budget_hint: -3 } }],
  ["an unknown kind of agent", { harness: { agent_type_hint: "Coder" } }],
  ["a day for a deadline", { expires_at: "2030-01-01" }],
  ["a word for a deadline", { expires_at: "tomorrow" }],
  ["a deadline that has passed", { expires_at: "2020-01-01T00:00:00Z" }],
  ["a word for the time it was made", { created_at: "yesterday" }],
  ["an old spelling of the version", { nutshell_version: "v0.2" }],
  ["an id of another form", { id: "my task!" }],
  ["a parent of another form", { parent_id: "x" }],
  ["a document that is not there", { context: { requirements: "context/r.md" } }],
  ["a document outside", { context: { requirements: "../r.md" } }],
  ["a document without a name", { context: { requirements: "" } }],
  ["other documents, one outside", { context: { additional: ["a b.md", "/etc/passwd"] } }],
  ["a picture outside", { resources: { images: [{ path: "../b.png" }] } }],
  ["an empty document", { context: { requirements: "r.md" } }, { "r.md": "" }],
  ["a vault that is not there", vault("age")],
  ["a vault in clear that says age", vault("age"), { "credentials/vault.enc.json": VAULT }],
  ["a vault in clear that says sops", vault("sops"), { "credentials/vault.enc.json": VAULT }],
  ["a vault in clear that says so", vault("none"), { "credentials/vault.enc.json": VAULT }],
  ["a vault that says AGE", vault("AGE"), { "credentials/vault.enc.json": VAULT }],
  ["a vault of no kind", vault("age"), { "credentials/vault.enc.json": "junk" }],
  ["a sops vault that says age", vault("age"), { "credentials/vault.enc.json": '{"credentials":[],"sops":{}}' }],
  ["a token in a file", {}, { "files/app.ts": `const key = "${TOKEN}";\n` }],
  ["a file that is a secret by its name", {}, { "files/.env": "A=1\n" }],
  ["criteria called the same", {}, { "tests/criteria.json": criteria({ id: "A", ...shell }, { id: "A", ...shell }) }],
  ["a criterion after none", {}, { "tests/criteria.json": criteria({ id: "A", ...shell, after: ["Z"] }) }],
  ["a criterion with nothing to run", {}, { "tests/criteria.json": criteria({ id: "A", type: "shell" }) }],
  ["a criterion of no type", {}, { "tests/criteria.json": criteria({ id: "A", type: "magic", command: "true" }) }],
  ["criteria given twice", {}, { "tests/criteria.json": '{"criteria":[],"criteria":[]}' }],
  ["no criteria in the file", {}, { "tests/criteria.json": criteria() }],
  ["places of our own fixes", { acceptance: { checklist: ["<what must be true when it is done>"] } }],
  ["a delivery of nothing", { bundle_type: "delivery", request_id: ID, status: "completed", summary: "s" }],
  ["a delivery that says Done", { bundle_type: "delivery", request_id: ID, status: "Done" }],
];

/** The words a shell makes of a command, so that quoting is the shell's business. */
const words = (line: string): string[] =>
  execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

describe("a fix that check prints", () => {
  beforeAll(async () => expect((await run(["keygen"])).code).toBe(0));

  it.each(BROKEN)("works when pasted: %s", async (_, change, files = {}) => {
    const look = async () => JSON.parse((await run(["check", FOLDER, "--json"])).out).findings;
    const write0 = () => write({ ...base(), ...change }, files);
    write0();
    const found: { code: string; path: string; message: string; fix: string }[] = await look();
    expect(found).not.toEqual([]);
    for (const { code, path, message, fix } of found) {
      write0();
      for (const step of fix.split(" && ")) {
        const [program, ...argv] = words(step.replace(`\${EDITOR:-vi}`, "edit"));
        if (program === "nutshell") {
          // Values are asked for on a terminal; here they come from a pipe.
          const piped = argv[0] === "add-credential" ? [...argv, "--value-stdin"] : argv;
          const { code: status, err } = await run(piped, "value");
          expect([step, status <= 1, err.includes("error:")], err).toEqual([step, true, false]);
        } else if (program !== "edit") execFileSync(program!, argv, { cwd: place });
        else if (!existsSync(join(place, argv[0]!))) writeFileSync(join(place, argv[0]!), "words\n");
      }
      // What only a person can write is still to be written.
      if (fix.includes("EDITOR") && code !== "REFERENCE_MISSING") continue;
      const left = (await look()).filter((each: (typeof found)[0]) => each.path === path && each.message === message);
      expect(left, fix).toEqual([]);
    }
  });
});
