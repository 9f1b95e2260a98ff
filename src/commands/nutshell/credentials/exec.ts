// Runs a program with credentials in its environment and nowhere else, or with a way to use them and no value at all. What it
// prints is scrubbed before it is passed on.
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { z } from "zod";
import { planChecks } from "../../../acceptance/index.js";
import type { BrokerUse } from "../../../broker/index.js";
import { readManifest } from "../../../bundle/index.js";
import { rawCommand } from "../../../cli/command.js";
import { flag, rest } from "../../../cli/fields.js";
import { contextOf } from "../../../cli/io.js";
import { progressLine } from "../../../cli/progress.js";
import { render } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { startChild } from "../../../process/index.js";
import { folderTarget } from "../../../request/open/target.js";
import { RequestCredentials } from "../../../request/vault/credentials.js";
import { collectKeys } from "../../../request/vault/keys.js";
import { appendUses, Lending, tellUse, trustProxy } from "../../../request/vault/lending.js";
import { readVaultFolder, unlock } from "../../../request/vault/vault-folder.js";
import { handOut, recordUses, type Scrubber, scrubber, type Terms } from "../../../vault/index.js";
import { ALLOW_ORIGIN } from "../acceptance/acceptance-flags.js";
import { DIR } from "../flags.js";
import { aboutFolder } from "./about-folder.js";
import { IDENTITY } from "./credentials-flags.js";
import { restrictionLines } from "./credentials-text.js";

const ExecInput = z.object({
  with: flag(z.array(z.string()).default([]), { short: "w", value: "<name>", about: "a credential to hand out" }),
  broker: flag(z.boolean().default(false), {
    about: "lend it: the program uses the credential through a broker and never sees its value",
  }),
  handOut: flag(z.array(z.string()).default([]), {
    value: "<name>",
    about: "with --broker: hand this one out all the same",
  }),
  proxy: flag(z.boolean().default(false), {
    about:
      "with --broker: programs that insist on the service's own https address go through a proxy, which they are told to trust",
  }),
  ...ALLOW_ORIGIN,
  purpose: flag(z.string().optional(), { value: "<text>", about: "why, for the record of uses" }),
  ...DIR,
  ...IDENTITY,
  command: rest(z.array(z.string()).default([])),
});
type ExecInput = z.output<typeof ExecInput>;

const execCommand = rawCommand({
  name: "exec",
  summary: "run a program with credentials in its environment only",
  input: ExecInput,
  about: [
    "The values are in the program's environment and nowhere else, and are taken out of what it prints. A credential staging-db with fields becomes $STAGING_DB_HOST, $STAGING_DB_PASSWORD… and $STAGING_DB with all of it as JSON; a plain text becomes $STAGING_DB.",
    "With --broker no value is in the program's environment, arguments, memory or files: $STAGING_API_URL leads to the service through a process of ours that adds the secret to what the credential's limits allow (methods, paths, rate, bytes, calls, times) and refuses the rest in words. What can only be handed out is refused unless --hand-out names it. docs/broker.md tells which types are served and how.",
    "Its exit status is the program's. Every use is recorded by name, time and purpose in delivery/logs/credentials.jsonl.",
  ],
  examples: [
    ["nutshell exec --with staging-db -- ./migrate.sh", "for one command"],
    ["nutshell exec --broker --with staging-api -- ./smoke-test.sh", "which never sees the key"],
  ],
  async run(input, io, { json, quiet, program }) {
    if (input.with.length === 0) throw lacks("--with: needs at least one credential", input);
    if (input.command.length === 0) throw lacks("--command: needs a command after --", input);
    const progress = progressLine(io, { program: program.name, quiet, color: false }).show;
    return execWith(input, contextOf(io, json, progress), {
      stdout: io.stdout,
      stderr: io.stderr,
      terms(terms) {
        if (quiet) return;
        for (const line of terms.flatMap(restrictionLines))
          io.stderr.write(`${render(`${program.name}: ${line}`, false)}\n`);
      },
    });
  },
});
export default aboutFolder(execCommand);

function lacks(what: string, input: ExecInput): NutError {
  const names = input.with.length === 0 ? ["<name>"] : input.with;
  const withs = names.map((name) => `--with ${shellWord(name)}`).join(" ");
  return new NutError("USAGE", `nutshell exec: ${what}`, { hint: `nutshell exec ${withs} -- ${commandWords(input)}` });
}

/** What was typed behind `--`, to be typed again. */
const commandWords = ({ command }: ExecInput): string =>
  command.length === 0 ? "sh -c '<command>'" : command.map(shellWord).join(" ");

interface ExecOutput {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** What the credentials allow, before the program starts. */
  readonly terms: (terms: readonly Terms[]) => void;
}

/** Variables that hold our own keys: the child gets the credentials it was given, not the means to open the vault. */
const OWN_KEYS = ["NUTSHELL_PASSPHRASE", "SOPS_AGE_KEY", "SOPS_AGE_KEY_FILE", "VAULT_TOKEN", "NUTSHELL_IDENTITY"];

/** The child's exit status; 128 and the signal's number when a signal ended it. */
async function execWith(input: ExecInput, context: Context, output: ExecOutput): Promise<number> {
  const folder = readVaultFolder(folderTarget(input.dir, context).path, context.env);
  if (!input.broker && (input.proxy || input.handOut.length + input.allowOrigin.length > 0)) {
    throw new NutError("USAGE", "nutshell exec: --hand-out, --proxy and --allow-origin go with --broker", {
      hint: `nutshell exec --broker ${input.with.map((name) => `--with ${shellWord(name)}`).join(" ")} -- ${commandWords(input)}`,
    });
  }
  if (input.broker) return execLent(input, folder.dir, context, output);
  const { vault } = await unlock(folder, collectKeys(input.identity, context));
  const [program] = input.command;
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
  return runWith(input, given.env, clean, context, output);
}

/** The same with what is lent: the program is told where to ask. */
async function execLent(input: ExecInput, dir: string, context: Context, output: ExecOutput): Promise<number> {
  const credentials = new RequestCredentials({ request: dir, identity: input.identity, context, isOwn: true });
  const manifest = readManifest(dir);
  const uses: BrokerUse[] = [];
  const lending = new Lending({
    credentials,
    manifest,
    endpoints: planChecks(dir, manifest).endpoints,
    handOut: input.handOut,
    broker: {
      allowOrigins: input.allowOrigin,
      onUse: (use) => {
        uses.push(use);
        tellUse(use, context);
      },
    },
  });
  const purpose = input.purpose ?? `exec ${input.command[0]}`;
  try {
    const opened = await Promise.all([...new Set(input.with)].map((name) => lending.open(name, purpose)));
    const visible = opened.find(({ name, handedOut }) => handedOut !== null && !input.handOut.includes(name));
    if (visible !== undefined) {
      throw new NutError(
        "CREDENTIAL_NOT_LENT",
        `credential "${visible.name}" can only be handed out: ${visible.handedOut}`,
        {
          hint: `nutshell exec --broker --with ${shellWord(visible.name)} --hand-out ${shellWord(visible.name)} -- ${commandWords(input)}`,
          data: { name: visible.name },
        },
      );
    }
    output.terms(opened.flatMap(({ given }) => given.terms));
    const lent = opened.filter(({ handedOut }) => handedOut === null).map(({ name }) => name);
    const admitted =
      lent.length === 0
        ? null
        : await (await lending.broker()).admit({
            by: "exec",
            role: null,
            names: lent,
            ...(input.proxy ? { proxy: "tunnel" as const } : {}),
          });
    recordUses(
      dir,
      opened.flatMap(({ given }) => given.uses),
    );
    const handed = opened.filter(({ handedOut }) => handedOut !== null).map(({ given }) => given.env);
    const clean = scrubber(opened.flatMap(({ given }) => given.secrets));
    const trust = admitted?.proxy === undefined ? null : trustProxy(admitted.proxy, context.env);
    try {
      return await runWith(input, Object.assign({}, ...handed, admitted?.env, trust?.env), clean, context, output);
    } finally {
      trust?.remove();
    }
  } finally {
    await lending.close();
    appendUses(dir, uses);
  }
}

/** Starts the program with these variables and takes the secrets out of what it prints. */
async function runWith(
  { command: [program, ...args] }: ExecInput,
  env: Readonly<Record<string, string>>,
  clean: Scrubber,
  context: Context,
  output: ExecOutput,
): Promise<number> {
  const inherited = Object.fromEntries(Object.entries(context.env).filter(([name]) => !OWN_KEYS.includes(name)));
  const child = await startChild({
    command: program!,
    args,
    cwd: context.cwd,
    env: { ...inherited, ...env },
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
