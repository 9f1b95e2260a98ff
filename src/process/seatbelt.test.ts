// The profile for macOS was never run. What can be known without a Mac is known here: that it is one, in words sandbox-exec has.
import { describe, expect, it } from "vitest";
import type { Sandbox } from "./sandbox.js";
import { seatbeltProfile } from "./seatbelt.js";

type Form = string | Form[];

/** S-expressions; `;` begins a comment. Throws where they do not balance. */
function read(text: string): Form[] {
  const words = text.match(/;[^\n]*|[()]|"(?:[^"\\]|\\.)*"|[^\s()";]+|"/g) ?? [];
  const open: Form[][] = [[]];
  for (const word of words) {
    if (word === '"') throw new Error("a text without an end");
    if (word === "(") open.push([]);
    else if (word === ")") {
      const form = open.pop()!;
      if (open.length === 0) throw new Error("closed too often");
      open.at(-1)!.push(form);
    } else if (!word.startsWith(";")) open.at(-1)!.push(word);
  }
  if (open.length !== 1) throw new Error("not closed");
  return open[0]!;
}

const OPERATIONS = new Set(
  "default process-fork process-exec signal sysctl-read file-read* file-read-metadata file-write* mach-lookup network* system-socket".split(
    " ",
  ),
);
const FILTERS = new Set(["literal", "subpath", "global-name", "target"]);

interface Rule {
  readonly verdict: string;
  readonly operations: readonly string[];
  readonly filters: readonly (readonly [kind: string, value: string])[];
}

/** Every form is a rule of known words; anything else throws. */
function rules(profile: string): Rule[] {
  const [version, ...forms] = read(profile);
  expect(version).toEqual(["version", "1"]);
  return forms.map((form) => {
    const [verdict, ...rest] = form as [string, ...Form[]];
    expect(["allow", "deny"]).toContain(verdict);
    const operations = rest.filter((word): word is string => typeof word === "string");
    const filters = rest.filter((word): word is string[] => typeof word !== "string") as [string, string][];
    expect([operations.length > 0, operations.filter((word) => !OPERATIONS.has(word))]).toEqual([true, []]);
    expect(filters.filter((form: readonly string[]) => !FILTERS.has(form[0]!) || form.length !== 2)).toEqual([]);
    return { verdict, operations, filters };
  });
}

/** What the last rule that fits says of a path, as sandbox-exec decides. */
function may(profile: string, operation: "file-read*" | "file-write*" | "network*", path = ""): boolean {
  const fits = ({ operations, filters }: Rule) =>
    (operations.includes(operation) || operations.includes("default")) &&
    (filters.length === 0 ||
      filters.some(([kind, quoted]) => {
        const value = JSON.parse(quoted) as string;
        return path === value || (kind === "subpath" && path.startsWith(`${value}/`));
      }));
  return rules(profile).findLast(fits)?.verdict === "allow";
}

const asIs = (path: string) => path;
const session: Sandbox = {
  root: "system",
  env: { PATH: "", HOME: "/nowhere" },
  network: "host",
  mounts: [
    { access: "read-only", path: "/Users/p/.claude/login.json" },
    { access: "writable", path: "/Users/p/work" },
    { access: "hidden", path: "/Users/p/work/.claude" },
    { access: "writable", path: '/Users/p/odd "name"\\ (x)' },
    { access: "frozen", path: "/Users/p/work/kept" },
  ],
};
const profile = (change: Partial<Sandbox> = {}) => seatbeltProfile({ ...session, ...change }, {}, asIs);

describe("the profile for sandbox-exec, which nobody has run", () => {
  it("is balanced, in known words, and refuses what it does not name", () => {
    expect(rules(profile())[0]).toEqual({ verdict: "deny", operations: ["default"], filters: [] });
    expect(() => read(`${profile()})`)).toThrow("too often");
    expect(() => read(profile().slice(0, -2))).toThrow("not closed");
  });

  it.each<[string, boolean, boolean]>([
    ["/usr/bin/env", true, false],
    ["/dev/null", true, true],
    ["/dev/disk0", false, false],
    ["/Users/p/.ssh/id_ed25519", false, false],
    ["/Users/p/.claude/login.json", true, false],
    ["/Users/p/.claude/other", false, false],
    ["/Users/p/work/a", true, true],
    ["/Users/p/worker", false, false],
    ["/Users/p/work/.claude/settings.json", false, false],
    ["/Users/p/work/kept/a", true, false],
    ['/Users/p/odd "name"\\ (x)/a', true, true],
  ])("%s: read %s, write %s", (path, reads, writes) => {
    expect([may(profile(), "file-read*", path), may(profile(), "file-write*", path)]).toEqual([reads, writes]);
  });

  it("gives a network or none, and the whole disk only where the policy says so", () => {
    expect([may(profile(), "network*"), may(profile({ network: "none" }), "network*")]).toEqual([true, false]);
    const whole = profile({ root: "read-only" });
    expect([may(whole, "file-read*", "/x"), may(whole, "file-write*", "/x")]).toEqual([true, false]);
  });

  it("refuses what a profile cannot say", () => {
    for (const mount of [
      { access: "link", path: "/app", to: "/x" },
      { access: "read-only", path: "/a", from: "/b" },
      { access: "overlay", path: "/a", layers: ["/b"], changes: "/c" },
      { access: "writable", path: "/a\n(allow default)" },
    ] as const)
      expect(() => profile({ mounts: [mount] })).toThrow(expect.objectContaining({ code: "SANDBOX_MISSING" }));
  });
});
