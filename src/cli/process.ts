// The process's own edges: signals, stdio, prompts. Nothing else in the product touches them.

import { fromSystemError, NutError } from "../errors.js";
import { keepCode, STOP_WITH_INPUT } from "../process/self.js";
import type { Program } from "./command.js";
import type { Io } from "./io.js";
import { main, refuse, wantsJson } from "./main.js";
import { STOPPING, stoppedBy } from "./stopped-by.js";

/** Commands that live longer may meet an upgrade; by then an agent is at work, or a server answers. */
const LONG_MS = 500;

/** Runs a program against the real process. The second Ctrl-C ends it at once. */
export async function runProcess(program: Program): Promise<number> {
  let made: AbortController | null = null;
  const controller = () => {
    made ??= new AbortController();
    return made;
  };
  const output: Output = { gone: false, lost: null };
  const stop = (name: NodeJS.Signals) => {
    // A terminal that is closed is noticed twice: by what is written to it, and by the signal.
    if (controller().signal.aborted && !output.gone) process.exit(stoppedBy(name));
    output.gone = false;
    controller().abort(name);
  };
  const names = Object.keys(STOPPING) as NodeJS.Signals[];
  for (const name of names) process.on(name, stop);
  stopWithInput(() => stop("SIGTERM"));
  readPlainly();
  setTimeout(keepCode, LONG_MS).unref();
  const io = processIo(controller, output);
  try {
    const argv = process.argv.slice(2);
    const status = await main(program, argv, io);
    // A write that failed is told one turn later.
    await new Promise(setImmediate);
    // What was asked may be done; whoever asked did not get to read it.
    if (output.lost !== null) return refuse(program, output.lost, io, wantsJson(argv));
    return status;
  } finally {
    for (const name of names) process.off(name, stop);
  }
}

/** A command reads a document once or twice: for zod to compile a reader of it takes longer than reading does. */
function readPlainly(): void {
  (globalThis as { __zod_globalConfig?: { jitless: boolean } }).__zod_globalConfig = { jitless: true };
}

/** Who starts us with this and holds our input ends us by being gone, however that happens. Our own children know nothing of it. */
function stopWithInput(stop: () => void): void {
  if (process.env[STOP_WITH_INPUT] !== "1") return;
  delete process.env[STOP_WITH_INPUT];
  process.stdin
    .once("close", stop)
    .on("error", () => {})
    .resume();
  // Waiting for that keeps nobody from ending.
  (process.stdin as { unref?: () => void }).unref?.();
}

/** Each stream, and the controller, is made when it is first used: making them takes longer than many commands. */
function processIo(controller: () => AbortController, output: Output): Io {
  let stdout: Io["stdout"] | null = null;
  let stderr: Io["stderr"] | null = null;
  // A command at work stops as it does at Ctrl-C; one that gave its last words ends with its own answer.
  const stop = (error: NodeJS.ErrnoException) => {
    if (controller().signal.aborted) return;
    output.gone = true;
    controller().abort(error.code === "EIO" ? "SIGHUP" : "SIGPIPE");
  };
  return {
    get cwd() {
      return folderHere();
    },
    env: process.env,
    now: () => new Date(),
    get signal() {
      return controller().signal;
    },
    stdin: () => process.stdin,
    get stdout() {
      stdout ??= process.stdout.on("error", (error: NodeJS.ErrnoException) => {
        const readerGone = error.code === "EPIPE" || (error.code === "EIO" && process.stdout.isTTY);
        if (!readerGone && !controller().signal.aborted) output.lost ??= unwritten(error);
        stop(error);
      });
      return stdout;
    },
    get stderr() {
      // There is nowhere left to say that this failed.
      stderr ??= process.stderr.on("error", stop);
      return stderr;
    },
    get ask() {
      return canAnswer() ? lazyPrompter(controller()) : null;
    },
  };
}

interface Output {
  /** Nobody reads it any more, and that stopped the command. */
  gone: boolean;
  /** Why it could not be written, when it was not its reader who went away. */
  lost: NutError | null;
}

function unwritten(error: NodeJS.ErrnoException): NutError {
  return (
    fromSystemError(error, "standard output") ??
    new NutError("FILE_UNWRITABLE", `standard output cannot be written: ${error.code}`, { hint: "write to a file" })
  );
}

function folderHere(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new NutError("FILE_NOT_FOUND", "the folder this was started in is not there any more", {
      hint: "cd ~",
      cause: error,
    });
  }
}

function canAnswer(): boolean {
  return (process.env.CI ?? "") === "" && process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Prompts are rare and readline is not small, so it is loaded at the first question. */
function lazyPrompter(controller: AbortController): Io["ask"] {
  const prompter = async () =>
    (await import("./prompt.js")).terminalPrompter(process.stdin, process.stderr, controller);
  return {
    text: async (question, options) => (await prompter()).text(question, options),
    confirm: async (question, options) => (await prompter()).confirm(question, options),
    secret: async (question) => (await prompter()).secret(question),
  };
}
