import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { assess, mechanicalFixes, type OpenedContent, writeManifest } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, cyan, dim, green, red, yellow } from "../../../cli/text.js";
import { type Finding, NutError } from "../../../errors.js";
import { appendInside } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { subjectWords } from "../../../request/judge/subject-findings.js";
import { folderTarget, openTarget } from "../../../request/open/target.js";
import { type GuardRequest, guardFindings } from "../../../request/pack/pack-guard.js";
import { audienceFindings, lendingFindings } from "../../../request/vault/vault-audience.js";
import { FindingShape } from "../../../schema/finding.js";
import { COMPLETENESS } from "../../../schema/manifest.js";
import { ACCEPTANCE_FLAGS } from "../acceptance/acceptance-flags.js";
import { FOLDER_OR_DIR, namedFolder, unpackFirst } from "../flags.js";
import { isWeak, Strength, strengthLines, strengthOf } from "./check-strength.js";

export default command({
  name: "check",
  summary: "what is missing, and the command that adds it",
  input: z.object({
    ...FOLDER_OR_DIR,
    folder: positional(FOLDER_OR_DIR.folder, {
      name: "dir",
      about: "the task's folder; a .nut file or - (standard input) works too",
    }),
    fix: flag(z.boolean().default(false), { about: "do the mechanical part: pointers, spelling, outlines to fill in" }),
    contextWindow: flag(z.coerce.number().int().positive().optional(), {
      value: "<tokens>",
      about: "what context_budget_hint is a share of (default: 200000)",
    }),
    strength: flag(z.boolean().default(false), {
      about: "run the checks on the untouched tree and on work that does nothing: what are they worth?",
    }),
    allow: flag(z.array(z.string()).default([]), {
      value: "<path>",
      about: "a file that will be packed although it looks like a secret",
    }),
    base: ACCEPTANCE_FLAGS.base,
    identity: ACCEPTANCE_FLAGS.identity,
    yes: ACCEPTANCE_FLAGS.yes,
    allowInstall: ACCEPTANCE_FLAGS.allowInstall,
    noSandbox: ACCEPTANCE_FLAGS.noSandbox,
  }),
  output: z.object({
    status: z.enum(COMPLETENESS),
    missing: z.array(z.string()),
    warnings: z.array(z.string()),
    findings: z.array(FindingShape),
    passed: z.array(z.object({ path: z.string(), message: z.string() })),
    fixed: z.array(z.string()),
    bundle_type: z.string(),
    strength: Strength.nullable().describe("null without --strength"),
  }),
  about: [
    "Looks at the manifest and at everything it names: documents, interfaces, credentials, criteria, test scripts. What keeps an agent from starting comes first, each with the command that fixes it. A delivery is checked for its request, its result, every artifact and an answer to each point of the checklist.",
    "With --strength every automatic check is run before anybody works: on the untouched tree, on the tree with its files empty, its functions constant or its answers every word of the checks, and with its expectations altered. A check that passes on such a stand-in, or cannot be altered, is weak. What reaches out is not run.",
    "Exit status: 0 ready, 1 draft, incomplete or weak, 2 could not look.",
  ],
  examples: [
    ["nutshell check my-task", "what is missing in my-task/"],
    ["nutshell check my-task --fix", "and do what needs no thought"],
    ["nutshell check my-task --strength", "what its checks are worth, before anybody is paid"],
    ["nutshell check --json --dir my-task | jq .status", "for scripts"],
  ],
  async run({ fix, contextWindow, strength, allow, base, identity, yes, noSandbox, allowInstall, ...named }, context) {
    const folder = namedFolder(named);
    const { path, label } = folderTarget(folder, context);
    const source = folder === "-" ? "-" : path;
    const options = { now: context.now(), dir: label, contextWindow };
    const fixed = fix ? await repair(await openTarget(source, context, identity), folder) : [];
    const content = await openTarget(source, context, identity);
    try {
      const { status, missing, warnings, findings, passed } = await assess(content, options);
      const subject = await subjectWords(content, label);
      const more = [...(await audienceFindings(content, label, context)), ...subject.findings];
      const told = await lendingFindings(content, context);
      const held = content.isFolder ? await heldBack(content, findings, { dir: label, allow }, context) : [];
      // That it is in clear is said once, by what would stop pack where it would.
      const isRefused = held.some(({ code }) => code === "VAULT_IN_CLEAR");
      const toldAlready = findings.filter(({ code }) => isRefused && code === "NOT_ENCRYPTED");
      const all = [...findings.filter((each) => !toldAlready.includes(each)), ...held, ...more];
      return {
        status: status === "ready" && held.length > 0 ? "incomplete" : status,
        missing: [...missing, ...held.map(({ path: file }) => file)],
        warnings: [
          ...warnings.filter((line) => !toldAlready.some((each) => line === asLine(each))),
          ...more.map(asLine),
        ],
        findings: [...(content.isFolder ? all : all.map((each) => ({ ...each, fix: unpackFirst(folder) }))), ...told],
        passed: [...passed, ...(subject.passed === null ? [] : [subject.passed])].filter(
          ({ path: field }) => !all.some((finding) => finding.path === field),
        ),
        fixed: [...fixed],
        bundle_type: content.manifest.bundle_type,
        strength: strength ? await strengthOf({ source, base, identity, yes, noSandbox, allowInstall }, context) : null,
      };
    } finally {
      await content.close();
    }
  },
  text(result) {
    const errors = result.findings.filter(({ severity }) => severity === "error");
    const warnings = result.findings.filter(({ severity }) => severity === "warning");
    const lines = [bold("🐚 Nutshell completeness check"), ""];
    for (const line of result.fixed) lines.push(`  ${cyan("+")} ${line}`);
    for (const { path, message } of result.passed) lines.push(`  ${green("✓")} ${path}: ${message}`);
    for (const { path, message } of errors) lines.push(`  ${red("✗")} ${path}: ${message}`);
    for (const { path, message } of result.findings.filter(({ severity }) => severity === "info"))
      lines.push(`  ${cyan("·")} ${path}: ${message}`);
    for (const { path, message } of warnings) lines.push(`  ${yellow("⚠")} ${path}: ${message}`);
    if (result.strength !== null) lines.push("", ...strengthLines(result.strength));
    lines.push("", verdict(result, errors.length));
    lines.push(...steps("To fix:", errors), ...steps("Worth adding:", warnings));
    return lines;
  },
  exit: ({ status, strength }) => (status === "ready" && !isWeak(strength) ? 0 : 1),
});

const asLine = ({ path, message }: Finding): string => `${path}: ${message}`;

/** What the guard of `pack` would refuse. What it says of a vault that is found wanting anyway is told already. */
async function heldBack(
  content: OpenedContent,
  lacking: readonly Finding[],
  asked: GuardRequest,
  context: Context,
): Promise<Finding[]> {
  const held = await guardFindings(content, asked, context);
  const isWanting = lacking.some(({ severity }) => severity === "error");
  return isWanting ? held.filter(({ code }) => code === "LEAK_FOUND") : held;
}

/** Does what needs no thought. New files first: a manifest must not point to what could not be written. */
async function repair(content: OpenedContent, named: string | undefined): Promise<readonly string[]> {
  try {
    if (!content.isFolder) {
      throw new NutError("USAGE", "--fix changes a folder, not a packed bundle", {
        hint: unpackFirst(named),
      });
    }
    const { writes, isManifestChanged, done } = mechanicalFixes(content);
    for (const { path, text, append } of writes) {
      // Something that is there but not packed (ignored, a link, a folder) is not ours to replace.
      const isThere = lstatSync(join(content.path, path), { throwIfNoEntry: false }) !== undefined;
      if (append === true || !isThere) appendInside(realpathSync(content.path), path, text);
    }
    if (isManifestChanged) writeManifest(content.path, content.manifest);
    return done;
  } finally {
    await content.close();
  }
}

function verdict({ status, bundle_type: kind }: { status: string; bundle_type: string }, errors: number): string {
  const next = kind === "delivery" ? "it can be handed over" : "an agent can start";
  if (status === "ready") return `Status: ${green("READY")}: ${next}`;
  const items = `${count(errors, "item")} ${errors === 1 ? "needs" : "need"} attention before ${next}`;
  return `Status: ${red(status.toUpperCase())}: ${items}`;
}

/** The same command once: one edit often answers several findings. */
function steps(heading: string, findings: readonly { path: string; message: string; fix?: string | undefined }[]) {
  const byFix = new Map<string, string[]>();
  for (const { path, message, fix } of findings) {
    if (fix === undefined) continue;
    const why = byFix.get(fix);
    if (why === undefined) byFix.set(fix, [`${path}: ${message}`]);
    else why.push(`${path}: ${message}`);
  }
  if (byFix.size === 0) return [];
  const lines = ["", heading];
  for (const [index, [fix, why]] of [...byFix].entries()) {
    lines.push(`  ${index + 1}. ${dim(why[0]!)}${why.length > 1 ? dim(` (and ${why.length - 1} more)`) : ""}`);
    lines.push(`     ${cyan(fix)}`);
  }
  return lines;
}
