// Copies that market commands leave beside a folder. None ever takes the place of another.
import { existsSync, readFileSync } from "node:fs";
import { shellWord } from "../../../errors.js";
import { atomicWrite } from "../../../files/index.js";
import { lineAt } from "../../../market/index.js";
import { identityWords } from "../flags.js";

export interface Kept {
  readonly path: string;
  /** Written just now, and not found there. */
  readonly fresh: boolean;
}

/** Keeps bytes under that name, or `name-2.nut` and so on where something else lies. */
export function keepBytes(path: string, bytes: Uint8Array): Kept {
  const same = keptBefore(path, (found) => Buffer.compare(found, bytes) === 0);
  if (same !== null) return { path: same.path, fresh: false };
  const free = names(path).find((name) => !existsSync(name))!;
  atomicWrite(free, bytes);
  return { path: free, fresh: true };
}

/** The copy under that name, or under one of the names after it, that is the one. */
export function keptBefore(path: string, isIt: (bytes: Buffer) => boolean): { path: string; bytes: Buffer } | null {
  for (const name of names(path)) {
    if (!existsSync(name)) return null;
    const bytes = readFileSync(name);
    if (isIt(bytes)) return { path: name, bytes };
  }
  return null;
}

const MOST_COPIES = 1000;

function names(path: string): string[] {
  const numbered = (number: number) => path.replace(/\.nut$/, `-${number}.nut`);
  return [path, ...Array.from({ length: MOST_COPIES }, (_, index) => numbered(index + 2))];
}

interface Claimed {
  readonly dir: string;
  readonly kept: string | null;
  /** The key that was named, and the daemon. */
  readonly identity: string | undefined;
  readonly clawnet: string | undefined;
}

/** How the work is done and handed back, as commands. */
export const workWords = ({ dir, kept, identity, clawnet }: Claimed): string => {
  const keys = identityWords(identity === undefined ? [] : [identity]);
  return `nexus run ${shellWord(kept ?? dir)}${keys} -o done.nut, then: ${lineAt(clawnet, "deliver done.nut")}`;
};
