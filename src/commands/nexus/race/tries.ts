// The folder of a race or a bench: one small file for each try, replaced whole, so that the same command goes on where it
// was stopped.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { NutError } from "../../../errors.js";
import { atomicWrite } from "../../../files/index.js";
import { TRY_VERSION, Try } from "../../../schema/scorecard.js";
import { type Contender, fileName } from "./contenders.js";

/** A request that takes part. */
export interface Subject {
  /** What tables call it. */
  readonly name: string;
  /** As it is opened. */
  readonly path: string;
  readonly digest: string;
  /** The folder of its known solution. */
  readonly oracle?: string;
}

export interface Wanted {
  readonly subject: Subject;
  readonly contender: Contender;
  readonly trial: number;
}

export class Tries {
  readonly folder: string;
  readonly #tries: string;

  constructor(folder: string) {
    this.folder = folder;
    this.#tries = join(folder, "tries");
  }

  /** What is known of it; null when it was never begun. A request that was changed since is another. */
  read(wanted: Wanted): Try | null {
    const path = this.#file(wanted);
    if (!existsSync(path)) return null;
    const found = readTry(path);
    if (found.program === wanted.contender.program) return found;
    throw new NutError("USAGE", `in ${this.folder}, ${wanted.contender.label} is ${found.program}`, {
      hint: `give this one another name (--with 'second=${wanted.contender.program}'), or name another folder with -o`,
    });
  }

  write({ subject, contender, trial }: Wanted, known: Pick<Try, "run" | "result">): void {
    mkdirSync(this.#tries, { recursive: true });
    const whole: Try = {
      version: TRY_VERSION,
      request: subject.name,
      digest: subject.digest,
      contender: contender.label,
      program: contender.program,
      trial,
      ...known,
    };
    atomicWrite(this.#file({ subject, contender, trial }), `${JSON.stringify(whole, null, 2)}\n`);
  }

  forget(wanted: Wanted): void {
    rmSync(this.#file(wanted), { force: true });
  }

  /** Where its delivery goes: never over one that is there, such as that of the request before it was changed. */
  delivery({ subject, contender, trial }: Wanted, isOnly: boolean): string {
    const folder = isOnly ? this.folder : join(this.folder, fileName(subject.name));
    const name = `${fileName(contender.label)}${trial === 1 ? "" : `-${trial}`}`;
    for (let number = 1; ; number += 1) {
      const path = join(folder, number === 1 ? `${name}.nut` : `${name}.${number}.nut`);
      if (!existsSync(path)) return path;
    }
  }

  #file({ subject, contender, trial }: Wanted): string {
    const name = [fileName(subject.name), subject.digest.slice(-12), fileName(contender.label), String(trial)];
    return join(this.#tries, `${name.join("--")}.json`);
  }
}

function readTry(path: string): Try {
  try {
    return Try.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    throw new NutError("RUN_DAMAGED", `${path} cannot be read`, {
      hint: `remove it, and the try is made again: rm '${path}'`,
      data: { path },
      cause: error,
    });
  }
}

/** Whether a folder is one of ours, or free to become one. */
export function assertOurs(folder: string): void {
  if (!existsSync(folder) || existsSync(join(folder, "tries")) || readdirSync(folder).length === 0) return;
  throw new NutError("FILE_EXISTS", `${folder} holds something else`, { hint: "name another folder with -o" });
}
