// The page's side of the formatting worker: one question at a time, and a worker that takes too long is ended. Its text is
// then shown as it is.
import { useEffect, useState } from "preact/hooks";
import type { FormatAnswer, FormatQuestion } from "./format.js";

const LIMIT_MS = 2_000;

export class Formatter {
  readonly #start: () => Worker;
  readonly #limitMs: number;
  #worker: Promise<Worker> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(start: () => Worker, limitMs: number) {
    this.#start = start;
    this.#limitMs = limitMs;
  }

  ask(question: FormatQuestion): Promise<FormatAnswer> {
    const mine = this.#last.then(() => this.#answer(question));
    this.#last = mine;
    return mine;
  }

  async #answer(question: FormatQuestion): Promise<FormatAnswer> {
    this.#worker ??= this.#ready();
    const worker = await this.#worker;
    return new Promise((resolve) => {
      const give = (answer: FormatAnswer, isOver: boolean) => {
        clearTimeout(timer);
        worker.onmessage = null;
        worker.onerror = null;
        if (isOver) {
          worker.terminate();
          this.#worker = null;
        }
        resolve(answer);
      };
      const timer = setTimeout(() => give(plain("it takes too long to format"), true), this.#limitMs);
      worker.onmessage = ({ data }: MessageEvent<FormatAnswer>) => give(data, false);
      worker.onerror = () => give(plain("it cannot be formatted"), true);
      worker.postMessage(question);
    });
  }

  /** The time counts from when it can work, not from when it is loaded. */
  #ready(): Promise<Worker> {
    const worker = this.#start();
    return new Promise((resolve) => {
      worker.onmessage = () => resolve(worker);
      worker.onerror = () => resolve(worker);
    });
  }
}

const plain = (why: string): FormatAnswer => ({ kind: "plain", why });

/** An exported page carries the worker's source in itself; opened as a file it may start no module. */
function startWorker(): Worker {
  const inside = document.getElementById("nutshell-formatter");
  if (inside === null) return new Worker("/formatter.js", { type: "module" });
  const source = new Blob([inside.textContent ?? ""], { type: "text/javascript" });
  return new Worker(URL.createObjectURL(source));
}

const formatter = new Formatter(startWorker, LIMIT_MS);

/** null until there is an answer: the text itself can be shown meanwhile. */
export function useFormatted(question: FormatQuestion): FormatAnswer | null {
  const [answer, setAnswer] = useState<FormatAnswer | null>(null);
  const language = question.kind === "code" ? question.language : "markdown";
  useEffect(() => {
    let wanted = true;
    setAnswer(null);
    if (language === "") return;
    formatter.ask(question).then((found) => wanted && setAnswer(found));
    return () => {
      wanted = false;
    };
  }, [question.text, language]);
  return answer;
}
