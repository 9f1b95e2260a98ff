// What a child finds open besides its three streams. Descriptors that whoever started us left open would be open in every
// child, and a folder's leads out of any sandbox. Node closes the first few and stops at the first gap.
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

let known: readonly number[] | undefined;

/** Descriptors above the first three that a child would inherit. They were here before us, so one look is enough. */
function inheritedFiles(): readonly number[] {
  known ??= lookUp();
  return known;
}

function lookUp(): number[] {
  try {
    return readdirSync("/proc/self/fdinfo").map(Number).filter(isInherited);
  } catch {
    // No /proc, no list.
    return [];
  }
}

function isInherited(file: number): boolean {
  if (file <= 2) return false;
  try {
    const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The folder we list by; closed again.
    return false;
  }
}

export interface ChildFiles {
  /** What stands at 3 and above. */
  readonly stdio: readonly ("ignore" | "pipe" | number)[];
  /** Closes what was opened for it, `third` too. */
  close(): void;
}

/** `third` becomes descriptor 3, with `tells` 4 is a pipe to us; what is inherited leads to nothing. */
export function filesFor(third: number | null, tells: boolean): ChildFiles {
  const inherited = inheritedFiles();
  const nothing = inherited.length === 0 ? null : openSync("/dev/null", "r");
  const stdio: ("ignore" | "pipe" | number)[] = Array(Math.max(4, ...inherited) - 2).fill("ignore");
  if (nothing !== null) for (const file of inherited) stdio[file - 3] = nothing;
  if (third !== null) stdio[0] = third;
  if (tells) stdio[1] = "pipe";
  return {
    stdio,
    close: () => {
      for (const file of [third, nothing]) if (file !== null) closeSync(file);
    },
  };
}
