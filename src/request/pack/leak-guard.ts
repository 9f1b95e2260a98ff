// Packing and the leak scan together: what is about to leave is looked at on its way, and held back when it must not go.
import { realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Looker, listFolder, type Observer } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import { readPieces } from "../../files/index.js";
import type { Manifest } from "../../schema/manifest.js";
import { byPlace, type Leak, leakScanner, type Secret } from "../../vault/index.js";
import { type LookThreads, lookApart } from "./look-apart.js";

export interface LeakGuardOptions {
  /** Paths, or folders of them, that may go although something was found. */
  readonly allow?: readonly string[];
  /** Values that must not occur anywhere; those of the vault, when it could be opened. */
  readonly knownValues?: readonly Secret[];
  /** Key files in use: never part of a bundle, whatever they are called. */
  readonly keyFiles?: readonly string[];
  /** Paths that are not looked at: a vault in clear whose risk was accepted by name. */
  readonly skip?: readonly string[];
  /** Told what may be a secret and is packed all the same. */
  readonly onWarning?: (leaks: readonly Leak[]) => void;
  /** On which threads files are hashed and scanned while they are packed; on this one when absent. */
  readonly threads?: LookThreads | null | undefined;
}

/** Hooks for packFolder. */
export interface LeakGuard {
  readonly observe: (path: string) => Observer | null;
  /** Instead of `observe`, where there are threads. */
  readonly look: Looker | undefined;
  /** Throws LEAK_FOUND; nothing was written by then. */
  readonly approve: (manifest: Manifest) => Promise<void>;
  /** What is refused; warnings are not. */
  readonly leaks: () => Promise<readonly Leak[]>;
}

/** How many findings a refusal spells out; all are in its data. */
const SHOWN = 5;

export async function leakGuard(folder: string, options: LeakGuardOptions = {}): Promise<LeakGuard> {
  const { threads = null, knownValues = [] } = options;
  const allowed = (options.allow ?? []).map(normal);
  const skipped = new Set(options.skip ?? []);
  const keys = new Set(
    (options.keyFiles ?? []).map((file) => insidePath(folder, file)).filter((path) => path !== null),
  );
  const keyLeaks: Leak[] = [];
  const isScanned = (path: string) => {
    if (skipped.has(path) || allowed.some((one) => path === one || path.startsWith(`${one}/`))) return false;
    if (keys.has(path))
      keyLeaks.push({ path, line: null, rule: "identity", masked: "a key in use", severity: "error" });
    return true;
  };
  const scan = threads !== null ? lookApart(threads, { knownValues, isScanned }) : await scanHere(knownValues);
  const leaks = async (last: LastText | null) =>
    bySeverity([...keyLeaks, ...(await scan.leaks(last)).toSorted(byPlace)]);
  return {
    observe: (path) => ("observe" in scan && isScanned(path) ? scan.observe(path) : null),
    look: "turn" in scan ? scan : undefined,
    async approve(manifest) {
      // The tree is left out: it is ours, large, and made of hashes.
      const { files: _tree, ...rest } = manifest;
      const text = JSON.stringify(rest, null, 2);
      const [errors, warnings] = await leaks(
        allowed.includes("nutshell.json") ? null : { path: "nutshell.json", text },
      );
      if (errors.length > 0) throw refusal(errors);
      if (warnings.length > 0) options.onWarning?.(warnings);
    },
    leaks: async () => (await leaks(null))[0],
  };
}

interface LastText {
  readonly path: string;
  readonly text: string;
}

async function scanHere(knownValues: readonly Secret[]) {
  const scanner = await leakScanner({ knownValues });
  return {
    observe: (path: string): Observer => scanner.observe(path),
    async leaks(last: LastText | null): Promise<readonly Leak[]> {
      if (last !== null) scanner.scan(last.path, Buffer.from(last.text));
      return scanner.leaks();
    },
  };
}

function bySeverity(leaks: readonly Leak[]): [errors: Leak[], warnings: Leak[]] {
  return [leaks.filter(({ severity }) => severity === "error"), leaks.filter(({ severity }) => severity === "warning")];
}

/** Everything in a folder that looks like a secret; for those who report what they found instead of refusing it. */
export async function leaksIn(folder: string, options: LeakGuardOptions = {}): Promise<readonly Leak[]> {
  const guard = await leakGuard(folder, options);
  const { entries } = listFolder(folder, { ignoreRules: false });
  const files = entries.filter(({ kind }) => kind === "file").map(({ path }) => path);
  await showFiles(guard, folder, files);
  return guard.leaks();
}

/** Lets a guard look at files that are not being packed. */
export async function showFiles(guard: LeakGuard, folder: string, files: Iterable<string>): Promise<void> {
  const piece = Buffer.allocUnsafeSlow(1 << 20);
  let shown = 0;
  for (const path of files) {
    const watcher = guard.observe(path);
    if (watcher === null) continue;
    for (const chunk of readPieces(join(folder, path), piece)) watcher.chunk(chunk);
    watcher.end();
    // A large folder takes a while, and whoever waits may stop it.
    shown += 1;
    if (shown % PAUSE_EVERY === 0) await setImmediate();
  }
}

const PAUSE_EVERY = 200;

/** `files/app.ts:2 github (ghp_…)` */
export function leakText({ path, line, rule, masked }: Leak): string {
  return `${path}${line === null ? "" : `:${line}`} ${rule} (${masked})`;
}

/** The first findings, and how many more there are. */
export function leakList(leaks: readonly Leak[]): string {
  const more = leaks.length > SHOWN ? `, and ${leaks.length - SHOWN} more` : "";
  return `${leaks.slice(0, SHOWN).map(leakText).join("; ")}${more}`;
}

function refusal(leaks: readonly Leak[]): NutError {
  return new NutError("LEAK_FOUND", `what looks like a secret would be packed: ${leakList(leaks)}`, {
    hint: `leave it out with .nutignore, or take the risk: --allow ${shellWord(leaks[0]!.path)}`,
    data: { leaks },
  });
}

function normal(path: string): string {
  return path.replace(/^\.\//, "").replace(/\/+$/, "");
}

/** The path a file has inside a folder, or null when it lies elsewhere or does not exist. */
function insidePath(folder: string, file: string): string | null {
  try {
    const path = relative(realpathSync(folder), realpathSync(file));
    return path === "" || path.startsWith("..") ? null : path.split(sep).join("/");
  } catch {
    return null;
  }
}

/** Records in the packed manifest what was let through, so that a receiver knows that it was meant. */
export function withAllowed(manifest: Manifest, allow: readonly string[]): Manifest {
  if (allow.length === 0) return manifest;
  const guard = { allowed: [...new Set(allow.map(normal))].sort() };
  return { ...manifest, extensions: { ...manifest.extensions, leak_guard: guard } };
}
