// Runs a program with credentials in its environment and nowhere else. What it prints is scrubbed before it is passed on.
import { resolve } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { z } from "zod";
import { NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { startChild } from "../../../process/index.js";
import { collectKeys } from "../../../request/keys.js";
import { readVaultFolder, unlock } from "../../../request/vault-folder.js";
import { handOut, recordUses, scrubber, type Terms } from "../../../vault/index.js";

export const ExecInput = z.object({
  dir: z.string().default("."),
  with: z.array(z.string()).min(1, "needs at least one credential"),
  purpose: z.string().optional(),
  identity: z.array(z.string()).default([]),
  command: z.array(z.string()).min(1, "needs a command after --"),
});

export interface ExecOutput {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** What the credentials allow, before the program starts. */
  readonly terms: (terms: readonly Terms[]) => void;
}

/** Variables that hold our own keys: the child gets the credentials it was given, not the means to open the vault. */
const OWN_KEYS = ["NUTSHELL_PASSPHRASE", "SOPS_AGE_KEY", "SOPS_AGE_KEY_FILE", "VAULT_TOKEN", "NUTSHELL_IDENTITY"];

/** The child's exit status; 128 and the signal's number when a signal ended it. */
export async function execWith(
  input: z.output<typeof ExecInput>,
  context: Context,
  output: ExecOutput,
): Promise<number> {
  const folder = readVaultFolder(resolve(context.cwd, input.dir), context.env);
  const { vault } = await unlock(folder, collectKeys(input.identity, context));
  const [program, ...args] = input.command;
  const given = handOut({
    vault,
    scopes: folder.manifest.credentials?.scopes ?? [],
    names: input.with,
    purpose: input.purpose ?? `exec ${program}`,
    now: context.now(),
  });
  const clean = scrubber(given.secrets);
  // A secret typed on the command line is already out; passing it on would make it look accepted.
  if (input.command.some((word) => clean.text(word) !== word)) {
    throw new NutError("LEAK_FOUND", "the command line holds the value of a credential; use its variable instead", {
      hint: `nutshell exec --with ${input.with.join(" --with ")} -- sh -c '… $${given.terms[0]?.variables[0]} …'`,
    });
  }
  output.terms(given.terms);
  recordUses(folder.dir, given.uses);
  const inherited = Object.fromEntries(Object.entries(context.env).filter(([name]) => !OWN_KEYS.includes(name)));
  const child = await startChild({
    command: program!,
    args,
    cwd: context.cwd,
    env: { ...inherited, ...given.env },
    stdin: "pipe",
    signal: context.signal,
  });
  const stdin = context.stdin();
  // A program that does not read its input is not an error.
  child.stdin?.on("error", () => undefined);
  if (child.stdin !== null) stdin.pipe(child.stdin);
  const drained = [
    pass(child.stdout.pipe(clean.stream()), output.stdout),
    pass(child.stderr.pipe(clean.stream()), output.stderr),
  ];
  const end = await child.ended;
  await Promise.all(drained);
  // Whoever feeds us may never stop; the program has, and so do we.
  stdin.unpipe();
  stdin.destroy();
  context.signal.throwIfAborted();
  return end.code ?? 128 + (SIGNAL_NUMBERS[end.signal ?? ""] ?? 15);
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

/** Standard output stays open for whoever comes after, so it is written to and not ended. */
async function pass(from: NodeJS.ReadableStream, to: Writable): Promise<void> {
  from.pipe(to, { end: false });
  await finished(from as NodeJS.ReadableStream, { writable: false });
}
