import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Io } from "./io.js";
import { progressLine } from "./progress.js";

function shown(options: { readonly quiet?: boolean; readonly terminal?: boolean } = {}) {
  let text = "";
  const stderr = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        text += chunk;
        done();
      },
    }),
    { isTTY: options.terminal === true, columns: 20 },
  );
  const io = { stderr, now: () => new Date(0) } as unknown as Io;
  const line = progressLine(io, { program: "nutshell", quiet: options.quiet === true, color: false });
  return { line, text: () => text };
}

describe("progress", () => {
  it("escapes what it is told, messages and warnings alike [P3]", () => {
    const { line, text } = shown();
    line.show({ type: "step", message: "reading \x1b[2Jfile" });
    line.show({ type: "warning", message: "odd \u202ename" });
    expect(text()).toBe("reading \\x1b[2Jfile\nnutshell: warning: odd \\u{202e}name\n");
  });

  it("says nothing but warnings when it should be quiet", () => {
    const { line, text } = shown({ quiet: true });
    line.show({ type: "step", message: "reading" });
    line.show({ type: "warning", message: "careful" });
    expect(text()).toBe("nutshell: warning: careful\n");
  });

  it("moves a line on a terminal only, within its width, and takes it away", () => {
    const count = { type: "step", message: "pack\x07ing a name", done: 3, total: 3 };
    const pipe = shown();
    pipe.line.show(count);
    expect(pipe.text()).toBe("");
    const { line, text } = shown({ terminal: true });
    line.show(count);
    expect(text()).toBe("\r\x1b[Kpack\\x07ing a name ");
    line.clear();
    line.clear();
    expect(text()).toBe("\r\x1b[Kpack\\x07ing a name \r\x1b[K");
  });
});
