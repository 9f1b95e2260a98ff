// The one place where a command puts a request to acceptance: what may run is asked first, then it is run as the flags say.
import { join, resolve } from "node:path";
import type { z } from "zod";
import type { AcceptanceOptions } from "../../../acceptance/index.js";
import type { Context } from "../../../operation.js";
import { askConsent, assertAgreed } from "../../../request/consent/consent.js";
import { assertHeld } from "../../../request/consent/held.js";
import { type Accepted, acceptAll } from "../../../request/hidden/hidden.js";
import { tell } from "../../../request/judge/acceptance-shapes.js";
import type { OpenedFolder } from "../../../request/open/work-folder.js";
import { acceptanceCredentials } from "../../../request/vault/credentials.js";
import type { ACCEPTANCE_FLAGS } from "./acceptance-flags.js";

type Flags = Omit<z.output<z.ZodObject<typeof ACCEPTANCE_FLAGS>>, "base"> & { readonly policy?: string | undefined };

export interface AcceptanceQuestion extends Pick<AcceptanceOptions, "result" | "baseline" | "logs"> {
  readonly request: OpenedFolder;
  readonly base: string;
  /** A folder of the command's own. */
  readonly work: string;
  /** What was typed, and what was opened of it: whoever made these is asked about. */
  readonly sources: readonly { readonly typed: string; readonly opened?: OpenedFolder }[];
  /** The folder whose record of uses is kept; null when it goes away with the command. */
  readonly uses?: string | null;
}

export interface AcceptedHere {
  readonly accepted: Accepted;
  /** Names of the credentials that checks were given. */
  readonly credentialsUsed: string[];
}

export async function acceptHere(asked: AcceptanceQuestion, flags: Flags, context: Context): Promise<AcceptedHere> {
  const { request, base, work, sources: all, uses = null, ...rest } = asked;
  const { identity, noSandbox, yes, policy } = flags;
  const sources = all.map(({ typed }) => typed);
  const held = await assertHeld({ sources, noSandbox, identity }, context);
  const agreed = await askConsent({ sources, yes, noSandbox, identity, policy }, context);
  // They were opened before they were looked at.
  for (const { typed, opened } of all) {
    if (opened !== undefined) await assertAgreed([held, agreed], resolve(context.cwd, typed), opened);
  }
  const credentials = acceptanceCredentials(request.dir, identity, context, {
    usesFolder: uses,
    allowOrigins: flags.allowOrigin,
  });
  const accepted = await acceptAll(
    {
      ...rest,
      request: request.dir,
      manifest: request.manifest,
      base,
      workDir: join(work, "rooms"),
      env: context.env,
      sandbox: noSandbox ? "off" : "auto",
      trials: flags.trials,
      quick: flags.quick,
      allowOrigins: flags.allowOrigin,
      keepBodies: flags.keepBodies,
      credentials: credentials.read,
      scrub: credentials.scrub,
      install: { allowed: flags.allowInstall || agreed.install, silent: yes },
      signal: context.signal,
      onProgress: tell(context),
    },
    identity,
    context,
  ).finally(() => credentials.close());
  return { accepted, credentialsUsed: credentials.used() };
}
