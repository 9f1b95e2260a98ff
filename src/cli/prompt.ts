import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Prompter } from "../operation.js";
import { Stopped } from "./stopped.js";
import { printable } from "./text.js";

/** Asks on stderr, so that stdout stays the result's. Who ends a question ends the command, as Ctrl-C does anywhere else. */
export function terminalPrompter(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  controller: AbortController,
): Prompter {
  const { signal } = controller;
  async function ask(question: string, echo: boolean): Promise<string> {
    // readline echoes what is typed to its output; a sink that swallows it is how a secret stays unseen.
    const sink = echo ? output : new Writable({ write: (_chunk, _encoding, done) => done() });
    const reader = createInterface({ input, output: sink, terminal: true });
    // A question may have lines before it; readline knows of one line only. It listens before the first of them is read.
    const lines = question.split("\n").map(printable);
    const last = `${lines.pop()} `;
    for (const line of lines) output.write(`${line}\n`);
    const close = () => reader.close();
    let open = true;
    try {
      if (!echo) output.write(last);
      // Ctrl-C and Ctrl-D close the reader, and so does a signal. What readline makes of that differs between versions of Node.
      const closed = new Promise<never>((_, reject) => reader.once("close", () => reject(new Stopped())));
      closed.catch(() => {});
      signal.addEventListener("abort", close);
      if (signal.aborted) close();
      const answer = await Promise.race([reader.question(echo ? last : ""), closed]);
      open = false;
      return answer;
    } catch {
      controller.abort("SIGINT");
      throw new Stopped();
    } finally {
      signal.removeEventListener("abort", close);
      reader.close();
      if (!echo || open) output.write("\n");
    }
  }
  return {
    async text(question, { initial } = {}) {
      const end = question.endsWith("?") ? "" : ":";
      const answer = await ask((initial ?? "") === "" ? `${question}${end}` : `${question} [${initial}]:`, true);
      return answer.trim() === "" ? (initial ?? "") : answer.trim();
    },
    async confirm(question, { initial = false } = {}) {
      const answer = (await ask(`${question} [${initial ? "Y/n" : "y/N"}]`, true)).trim().toLowerCase();
      return answer === "" ? initial : answer === "y" || answer === "yes";
    },
    secret: (question) => ask(`${question}:`, false),
  };
}
