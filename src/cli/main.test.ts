import { type PassThrough, Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { NutError } from "../errors.js";
import { command, type Program } from "./command.js";
import { flag, positional } from "./fields.js";
import { main } from "./main.js";
import { Stopped } from "./stopped.js";

const greet = command({
  name: "greet",
  summary: "greet someone",
  input: z.object({
    who: positional(z.string(), { about: "whom to greet" }),
    loud: flag(z.boolean().default(false), { short: "l", about: "in capitals" }),
    tags: flag(z.array(z.string()).default([]), { name: "tag", value: "<tag>", about: "a tag" }),
  }),
  output: z.object({ text: z.string() }),
  examples: [["nutshell greet Ann", "says hello"]],
  async run({ who, loud, tags }) {
    if (who === "nobody") throw new NutError("FILE_NOT_FOUND", "nobody is there", { hint: "test greet Ann" });
    if (who === "tired") throw new Stopped();
    if (who === "crash") throw new RangeError("unexpected");
    return { text: `hello ${loud ? who.toUpperCase() : who}${tags.map((tag) => ` #${tag}`).join("")}` };
  },
  text: ({ text }) => [text],
  exit: ({ text }) => (text.includes("stranger") ? 1 : 0),
});

const program: Program = {
  name: "nutshell",
  summary: "a test program",
  start: [],
  entries: [{ name: greet.name, summary: greet.summary, group: "Test", load: async () => greet }],
};

async function run(...argv: string[]) {
  const chunks = { out: "", err: "" };
  const sink = (key: "out" | "err") =>
    new Writable({
      write(chunk, _encoding, done) {
        chunks[key] += chunk;
        done();
      },
    });
  const code = await main(program, argv, {
    cwd: "/",
    env: {},
    now: () => new Date(0),
    signal: new AbortController().signal,
    stdin: () => Readable.from([]) as PassThrough,
    stdout: sink("out"),
    stderr: sink("err"),
    ask: null,
  });
  return { code, ...chunks };
}

describe("main", () => {
  it("says in one line that a person ended it at a question", async () => {
    expect(await run("greet", "tired")).toEqual({ code: 130, out: "", err: "nutshell: stopped at a question\n" });
  });

  it.each([["version"], ["--version"]])("shows help for %s --help", async (word) => {
    expect((await run(word, "--help")).out).toBe((await run("help")).out);
    expect(await run("help", "version")).toEqual(await run("help"));
    expect(await run(word, "--bogus")).toMatchObject({ code: 2, out: "" });
    expect(JSON.parse((await run(word, "--json")).out)).toMatchObject({ name: "nutshell" });
  });

  it("prints the result and nothing else on stdout", async () => {
    expect(await run("greet", "--tag", "a", "Ann", "--tag=b", "-l")).toEqual({
      code: 0,
      out: "hello ANN #a #b\n",
      err: "",
    });
  });

  it("prints one JSON document with --json", async () => {
    const { out } = await run("greet", "Ann", "--json");
    expect(JSON.parse(out)).toEqual({ text: "hello Ann" });
  });

  it("answers no with 1, could not with 2, and our bugs with 70", async () => {
    expect((await run("greet", "stranger")).code).toBe(1);
    expect(await run("greet", "nobody")).toMatchObject({
      code: 2,
      out: "",
      err: "nutshell: error: nobody is there\nnutshell: hint: test greet Ann\n",
    });
    const bug = await run("greet", "crash");
    expect(bug.code).toBe(70);
    expect(bug.err).toContain("nutshell: bug: RangeError: unexpected");
    expect(bug.err).toMatch(
      /hint: this is our mistake; please report it with the lines above and: nutshell \S+, Node v/,
    );
  });

  it("gives a bug a code, a message and a hint with --json too", async () => {
    const { code, err } = await run("greet", "crash", "--json");
    expect(code).toBe(70);
    expect(JSON.parse(err).error).toMatchObject({
      code: "BUG",
      message: "RangeError: unexpected",
      hint: expect.stringContaining("please report it with this line"),
      data: { stack: expect.stringContaining("main.test") },
    });
  });

  it("puts a refusal as JSON on stderr with --json", async () => {
    const { code, out, err } = await run("greet", "nobody", "--json");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(JSON.parse(err).error).toMatchObject({ code: "FILE_NOT_FOUND", hint: "test greet Ann" });
  });

  it("suggests what was meant", async () => {
    expect((await run("gret", "Ann")).err).toContain('did you mean "greet"?');
    expect((await run("greet", "Ann", "--luod")).err).toContain("did you mean --loud?");
  });

  it("names the argument that is missing or too many", async () => {
    expect(await run("greet")).toMatchObject({ code: 2, err: expect.stringContaining("nutshell greet needs <who>") });
    expect((await run("greet", "a", "b")).err).toContain('does not take "b"');
    expect((await run("greet", "a", "--tag")).err).toContain("--tag needs a value");
    expect((await run("greet", "a", "--loud=yes")).err).toContain("--loud takes no value");
  });

  it("escapes what could speak to the terminal", async () => {
    const { out } = await run("greet", "\x1b[31mred\u202e\nline");
    expect(out).toBe("hello \\x1b[31mred\\u{202e}\\x0aline\n");
  });

  it("escapes it in JSON too, which stays the same document", async () => {
    const { out } = await run("greet", "\u009b2J\u202e\u2028", "--json");
    expect(out.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
    expect(JSON.stringify(JSON.parse(out))).toContain("\u009b2J\u202e\u2028");
  });

  it("teaches with help", async () => {
    expect((await run("help")).out).toContain("greet");
    const { out, code } = await run("greet", "--help");
    expect(code).toBe(0);
    expect(out).toContain("nutshell greet Ann");
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});
