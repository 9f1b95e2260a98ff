import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { exitCodeFor, fromSystemError, NutError, shellWord } from "./errors.js";

const source = fileURLToPath(new URL(".", import.meta.url));

interface Literal {
  readonly where: string;
  readonly text: string;
}

/** Every text that is written beside a `NutError(` or a `hint:`. That each error has a hint is held by the compiler. */
function literals(pattern: RegExp): Literal[] {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
    .flatMap((name) =>
      [...readFileSync(join(source, name), "utf8").matchAll(pattern)].map((match) => ({
        where: name,
        text: match[1]!.slice(1, -1),
      })),
    );
}

const STRING = String.raw`("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\x60(?:[^\x60\\]|\\.)*\x60)`;
const messages = literals(new RegExp(String.raw`NutError\(\s*[^,()]+,\s*${STRING}`, "g"));
const hints = literals(new RegExp(String.raw`\bhint: ${STRING}`, "g"));

describe("the voice of refusals", () => {
  it("finds them", () => {
    expect(messages.length).toBeGreaterThan(200);
    expect(hints.length).toBeGreaterThan(150);
  });

  it.each([
    ["message", messages],
    ["hint", hints],
  ] as const)("every %s is lower case, one sentence, without a full stop", (_name, all) => {
    const names = /^(?:ClawNet|JSON|Markdown|UTF-8|HashiCorp|[A-Z]+_[A-Z_]+)\b/;
    const wrong = all.filter(
      ({ text }) => text === "" || (/^[A-Z]/.test(text) && !names.test(text)) || /[^.]\.$|[!]$|\n/.test(text),
    );
    expect(wrong).toEqual([]);
  });

  it("a code that exists is raised somewhere", () => {
    const declared = [...readFileSync(join(source, "errors.ts"), "utf8").matchAll(/^ {2}\| "([A-Z_]+)"/gm)].map(
      ([, code]) => code!,
    );
    const text = readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
      .map((name) => readFileSync(join(source, name), "utf8"))
      .join("\n");
    expect(declared.filter((code) => text.split(`"${code}"`).length < 3 && !text.includes(`  ${code}: `))).toEqual([]);
  });
});

describe("NutError", () => {
  it("answers no with 1 where the question was answered, and could not with 2", () => {
    const code = (name: NutError["code"]) => exitCodeFor(new NutError(name, "no", { hint: "look" }));
    expect(
      ["BUNDLE_INCOMPLETE", "LEAK_FOUND", "TOOL_REFUSED", "MARKET_UNPROVEN"].map((name) => code(name as never)),
    ).toEqual([1, 1, 1, 1]);
    expect(code("USAGE")).toBe(2);
    expect(code("BUNDLE_CORRUPT")).toBe(2);
  });

  it("has a hint of its own, or the one its code always has", () => {
    expect(new NutError("USAGE", "no", { hint: "nutshell help" }).hint).toBe("nutshell help");
    expect(new NutError("BUNDLE_CORRUPT", "no").hint).toMatch(/^fetch the bundle again/);
    expect(new NutError("BUNDLE_CORRUPT", "no", { hint: "other" }).hint).toBe("other");
    // @ts-expect-error a code without a standing remedy needs a hint
    new NutError("USAGE", "no");
  });

  it("names what is in the way of a rename, and not the file that was to take its place", () => {
    const error = { code: "EISDIR", syscall: "rename", path: "/a/.b.nut-tmp-1", dest: "/a/b" };
    expect(fromSystemError(Object.assign(new Error("no"), error))?.message).toBe("/a/b: is a folder");
  });

  it("tells what to do about a failed system call, as a command that can be pasted", () => {
    const failed = (code: string) =>
      fromSystemError(Object.assign(new Error(code), { code, syscall: "open" }), "my folder/it's");
    expect(failed("EACCES")).toMatchObject({ code: "FILE_UNREADABLE", hint: String.raw`ls -ld 'my folder/it'\''s'` });
    expect(failed("ENOENT")).toMatchObject({ code: "FILE_NOT_FOUND", hint: expect.stringContaining("pwd") });
    expect(failed("ENOSPC")).toMatchObject({ code: "DISK_FULL", hint: expect.stringContaining("df -h") });
    expect(failed("ENAMETOOLONG")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(failed("EPIPE")).toBeNull();
    expect(failed("EBADF")).toBeNull();
    expect(failed("ENXIO")).toMatchObject({
      code: "FILE_UNREADABLE",
      message: expect.stringContaining(": the system refused it: ENXIO"),
    });
    expect(shellWord("a/b-c.nut")).toBe("a/b-c.nut");
  });
});
