import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Prompter } from "../operation.js";
import { printable } from "./text.js";

/** Asks on stderr, so that stdout stays the result's. */
export function terminalPrompter(input: NodeJS.ReadStream, output: NodeJS.WriteStream, signal: AbortSignal): Prompter {
  async function ask(question: string, echo: boolean): Promise<string> {
    // readline echoes what is typed to its output; a sink that swallows it is how a secret stays unseen.
    const sink = echo ? output : new Writable({ write: (_chunk, _encoding, done) => done() });
    const reader = createInterface({ input, output: sink, terminal: true });
    try {
      if (!echo) output.write(`${printable(question)} `);
      return await reader.question(echo ? `${printable(question)} ` : "", { signal });
    } finally {
      reader.close();
      if (!echo) output.write("\n");
    }
  }
  return {
    async text(question, { initial } = {}) {
      const answer = await ask(initial === undefined ? `${question}:` : `${question} [${initial}]:`, true);
      return answer.trim() === "" ? (initial ?? "") : answer.trim();
    },
    async confirm(question, { initial = false } = {}) {
      const answer = (await ask(`${question} [${initial ? "Y/n" : "y/N"}]`, true)).trim().toLowerCase();
      return answer === "" ? initial : answer === "y" || answer === "yes";
    },
    secret: (question) => ask(`${question}:`, false),
  };
}
