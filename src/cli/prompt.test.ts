import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { terminalPrompter } from "./prompt.js";
import { Stopped } from "./stopped.js";

/** A person who types these lines, and what the terminal shows. */
function terminal(controller = new AbortController()) {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  output.on("data", (bytes: Buffer) => {
    shown += bytes;
  });
  const prompter = terminalPrompter(
    input as unknown as NodeJS.ReadStream,
    output as unknown as NodeJS.WriteStream,
    controller,
  );
  /** Asks first: what is typed before anybody listens belongs to nobody. */
  const answering = async <T>(question: Promise<T>, line: string): Promise<T> => {
    setImmediate(() => input.write(`${line}\n`));
    return question;
  };
  return { prompter, answering, shown: () => shown, type: (keys: string) => input.write(keys) };
}

describe("a question [P4]", () => {
  it("shows nothing of a secret while it is typed", async () => {
    const { prompter, answering, shown } = terminal();
    expect(await answering(prompter.secret("Passphrase"), "hunter2 horse")).toBe("hunter2 horse");
    expect(shown()).toContain("Passphrase: ");
    expect(shown()).not.toMatch(/hunter2|horse/);
  });

  it("shows what is typed otherwise, with what could speak to the terminal escaped", async () => {
    const { prompter, answering, shown } = terminal();
    expect(await answering(prompter.text("Name of \x1b[31mit"), " Ada ")).toBe("Ada");
    expect(shown()).toContain("Name of \\x1b[31mit: ");
    expect(shown()).toContain("Ada");
  });

  it.each([
    ["", false, false],
    ["", true, true],
    ["y", false, true],
    ["YES", false, true],
    ["n", true, false],
    ["maybe", true, false],
  ])("takes %j, when %j is usual, for %j", async (line, initial, answer) => {
    const { prompter, answering } = terminal();
    expect(await answering(prompter.confirm("Sure?", { initial }), line)).toBe(answer);
  });

  it("takes the usual answer for none", async () => {
    const { prompter, answering, shown } = terminal();
    expect(await answering(prompter.text("Name", { initial: "Ada" }), "")).toBe("Ada");
    expect(await answering(prompter.text("Why so?"), "because")).toBe("because");
    expect(shown()).toContain("Why so? ");
  });

  it.each([
    ["Ctrl-C", "\x03"],
    ["Ctrl-D", "\x04"],
  ])("is ended by %s, also where a secret is asked for", async (_, key) => {
    for (const kind of ["text", "secret", "confirm"] as const) {
      const { prompter, type, shown } = terminal();
      setImmediate(() => type(key));
      await expect(prompter[kind]("Name")).rejects.toBeInstanceOf(Stopped);
      expect(shown().endsWith("\n")).toBe(true);
    }
  });

  it("is ended by a signal, also by one that came before it was asked", async () => {
    for (const early of [true, false]) {
      const stop = new AbortController();
      const { prompter, shown } = terminal(stop);
      if (early) stop.abort("SIGINT");
      else setImmediate(() => stop.abort("SIGTERM"));
      await expect(prompter.confirm("Sure?")).rejects.toBeInstanceOf(Stopped);
      expect(shown().match(/\n/g)).toHaveLength(1);
    }
  });

  it("may have lines before it", async () => {
    const { prompter, answering, shown } = terminal();
    await answering(prompter.confirm("It wants\nthe network. Agree?"), "y");
    expect(shown()).toContain("It wants\n");
    expect(shown()).not.toContain("\\x0a");
  });
});
