// `check --strength`: what a request's own checks are worth, as a table.
import { join, resolve } from "node:path";
import { z } from "zod";
import { measureStrength } from "../../../acceptance/index.js";
import { bold, count, dim, green, red, table, yellow } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { askConsent, assertAgreed } from "../../../request/consent/consent.js";
import { assertHeld } from "../../../request/consent/held.js";
import { openInstaller } from "../../../request/install/installer.js";
import { tell } from "../../../request/judge/acceptance-shapes.js";
import { openFolder, withWorkFolder } from "../../../request/open/work-folder.js";
import { acceptanceCredentials } from "../../../request/vault/credentials.js";

const WORTH = ["strong", "guards", "weak", "untried"] as const;

export const Strength = z.object({
  checks: z.array(
    z.object({
      id: z.string(),
      description: z.string().optional(),
      worth: z.enum(WORTH),
      reason: z.string().optional(),
      untouched: z.enum(["passed", "failed", "skipped", "unknown"]).nullable().describe("on the untouched tree"),
      stand_ins: z.array(z.string()).nullable().describe("stand-ins it takes for done; null when none was tried"),
      alterable: z.boolean().nullable().describe("whether its expectations can be altered"),
      altered: z.array(z.string()).describe("altered expectations it passes all the same"),
    }),
  ),
  stand_ins: z.array(z.string()).describe("stand-ins that were made of this tree"),
  sandboxed: z.boolean(),
});
export type Strength = z.output<typeof Strength>;

export interface StrengthQuestion {
  /** A folder or a bundle, as typed. */
  readonly source: string;
  readonly base: string | undefined;
  readonly identity: readonly string[];
  readonly yes: boolean;
  readonly noSandbox: boolean;
  readonly allowInstall: boolean;
}

export function strengthOf(question: StrengthQuestion, context: Context): Promise<Strength> {
  const { source, base, identity, yes, noSandbox } = question;
  if (source === "-") {
    throw new NutError("USAGE", "--strength needs a folder or a file", { hint: "nutshell check task.nut --strength" });
  }
  return withWorkFolder(context, async (work) => {
    const request = await openFolder(source, context, join(work, "request"), identity);
    const held = await assertHeld({ sources: [source], noSandbox, identity }, context);
    const agreed = await askConsent({ sources: [source], yes, noSandbox, identity }, context);
    await assertAgreed([held, agreed], resolve(context.cwd, source), request);
    const credentials = acceptanceCredentials(request.dir, identity, context);
    const allowed = question.allowInstall || agreed.install;
    const { checks, standIns, sandboxed } = await measureStrength({
      request: request.dir,
      manifest: request.manifest,
      ...(base === undefined ? {} : { base: resolve(context.cwd, base) }),
      workDir: join(work, "rooms"),
      env: context.env,
      sandbox: noSandbox ? "off" : "auto",
      credentials: credentials.read,
      scrub: credentials.scrub,
      install: openInstaller({ manifest: request.manifest, allowed, silent: yes }, context),
      signal: context.signal,
      onProgress: tell(context),
    }).finally(() => credentials.close());
    return {
      checks: checks.map(({ standIns: fooled, altered, ...check }) => ({
        ...check,
        stand_ins: fooled === null ? null : [...fooled],
        altered: [...altered],
      })),
      stand_ins: [...standIns],
      sandboxed,
    };
  });
}

export const isWeak = (strength: Strength | null): boolean =>
  strength?.checks.some(({ worth }) => worth === "weak") === true;

const PAINTED = { strong: green("strong"), guards: yellow("guards"), weak: red("weak"), untried: dim("not tried") };

export function strengthLines({ checks, stand_ins: tried, sandboxed }: Strength): string[] {
  const rows = checks.map(({ id, worth, untouched, reason }) => [
    `  ${bold(id)}`,
    PAINTED[worth],
    untouched === null ? "" : `${untouched} untouched`,
    dim(reason ?? ""),
  ]);
  const provable = checks.some(({ worth }) => worth === "strong");
  return [
    bold("What the checks are worth"),
    ...table(rows),
    dim(
      `  tried on the untouched tree and on ${count(tried.length, "stand-in")}${tried.length > 0 ? `: ${tried.join(", ")}` : ""}`,
    ),
    ...(sandboxed ? [] : [`  ${yellow("⚠")} the checks ran without a sandbox`]),
    ...(provable || checks.length === 0
      ? []
      : [`  ${yellow("⚠")} no check here can prove work: none fails before it and holds against stand-ins`]),
  ];
}
