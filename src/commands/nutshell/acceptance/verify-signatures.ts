// Who vouches for a delivery, in `nutshell verify`: what is shown, what is asked for, and the verdict that --sign adds.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { flag } from "../../../cli/fields.js";
import { dim, green, red, yellow } from "../../../cli/text.js";
import { type Finding, NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import type { Accepted } from "../../../request/hidden/hidden.js";
import type { OpenedFolder } from "../../../request/open/work-folder.js";
import { tryKey } from "../../../request/signatures/sign-bundle.js";
import { signVerdict } from "../../../request/signatures/sign-verdict.js";
import { findSigningKey, type SigningKey } from "../../../request/signatures/signing-key.js";
import { VoucherShape, voucherRow, voucherWords } from "../../../request/signatures/voucher-text.js";
import { requiredSigners, whoSigned } from "../../../request/signatures/who-signed.js";
import type { Delivery } from "../../../schema/delivery.js";
import { KEY, Moment } from "../trust/signing-flags.js";

export const SIGNATURE_FLAGS = {
  require: flag(z.array(z.string()).default([]), {
    value: "<what>",
    about: 'signer=<principal>: a trusted signature that must be on it; of Sigstore: "signer=<who> issuer=<url>"',
  }),
  policy: flag(z.string().optional(), {
    value: "<file>",
    about: "a policy that holds besides your own and the project's",
  }),
  sigstoreRoot: flag(z.string().optional(), {
    value: "<file>",
    about: "a trusted_root.json by which Sigstore bundles are looked at",
  }),
  at: flag(Moment.optional(), {
    value: "<time>",
    about: "the time at which keys must have been valid (default: now)",
  }),
  sign: flag(z.boolean().default(false), { about: "with --rerun: sign what came out, and add it to the delivery" }),
  ...KEY,
};

export const SIGNED = {
  signatures: z.array(VoucherShape).describe("who vouches for it"),
  believed: z.string().nullable().describe("by whose word its record counts as proven, as your policy says"),
  verdict: z.string().nullable().describe("where the signed verdict lies, with --sign"),
};

const MARK = { trusted: green("✓"), unknown: yellow("?"), invalid: red("✗") } as const;

export function signatureLines({ signatures, believed, verdict }: z.output<z.ZodObject<typeof SIGNED>>): string[] {
  return [
    ...(signatures.length === 0 ? [dim("signed by nobody")] : []),
    ...signatures.map(
      (row) =>
        `${row.standing === "trusted" && row.result === "FAILED" ? red("✗") : MARK[row.standing]} ${voucherWords(row)}`,
    ),
    ...(believed === null ? [] : [`its record counts as proven by the word of ${believed}, as your policy says`]),
    ...(verdict === null ? [] : [dim(`your verdict is signed, in ${verdict}`)]),
  ];
}

interface Asked {
  readonly delivery: string;
  readonly rerun: boolean;
  readonly require: readonly string[];
  readonly policy?: string | undefined;
  readonly at?: string | undefined;
  readonly sigstoreRoot?: string | undefined;
  readonly sign: boolean;
  readonly key?: string | undefined;
}

/** The key of --sign, tried before anything is run; null when nothing is to be signed. Throws for demands that make no sense. */
export async function verdictSigner(input: Asked, context: Context): Promise<SigningKey | null> {
  requiredSigners(input.require);
  if (!input.sign) return null;
  if (!input.rerun) {
    throw new NutError("USAGE", "--sign vouches for what was run here, so it needs --rerun", {
      hint: `nutshell verify ${shellWord(input.delivery)} --request request.nut --rerun --sign`,
    });
  }
  // A mistyped name is told before a missing key.
  statSync(resolve(context.cwd, input.delivery));
  const signer = findSigningKey(input.key, context);
  await tryKey(signer);
  return signer;
}

interface VouchQuestion {
  readonly input: Asked;
  readonly target: OpenedFolder;
  readonly delivery: Delivery;
  /** Content digest of the request, when it is at hand. */
  readonly request: string | null;
  readonly isProven: boolean;
}

export async function whoVouches({ input, target, delivery, request, isProven }: VouchQuestion, context: Context) {
  const path = resolve(context.cwd, input.delivery);
  const { require, policy, at, sigstoreRoot } = input;
  const question = { path, manifest: target.manifest, digest: await target.digest(), delivery, request, isProven };
  const { vouchers, findings, believed } = await whoSigned({ ...question, require, policy, at, sigstoreRoot }, context);
  // What a policy believes is what the person allows beforehand.
  const allow: "recorded"[] = believed === null ? [] : ["recorded"];
  return { signatures: vouchers.map(voucherRow), findings, believed, allow };
}

interface VerdictFacts {
  readonly input: Asked;
  readonly target: OpenedFolder;
  readonly second: {
    readonly accepted: Accepted | null;
    readonly delivery: Delivery;
    readonly digests: { readonly request: string };
    readonly requestId: string;
  } | null;
  /** Whether completed would be true, as far as this rerun goes. */
  readonly backed: boolean;
  readonly findings: readonly Finding[];
  readonly signer: SigningKey | null;
}

/** Signs what the rerun came to; returns where it lies, null when nothing was to be signed. */
export async function signedVerdict(facts: VerdictFacts, context: Context): Promise<string | null> {
  const { input, target, second, backed, findings, signer } = facts;
  if (signer === null || second === null) return null;
  const { delivery, digests, requestId, accepted } = second;
  const question = {
    path: resolve(context.cwd, input.delivery),
    bundle: { id: target.manifest.id, digest: await target.digest() },
    request: { id: requestId, digest: digests.request },
    accepted: accepted!,
    isProven: delivery.status === "completed" && backed,
    findings,
    signer,
  };
  return signVerdict(question, context);
}
