// Signing a bundle or a folder: what it is decides what is said of it.
import { EarlyCopy } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { Delivery } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import type { Envelope, Statement } from "../../schema/statement.js";
import { deliveryStatement, type RunFacts, requestStatement, signStatement } from "../../statements/index.js";
import { readWhole } from "../open/read-whole.js";
import { addSignatures, hasPlaceInside } from "./signatures.js";
import type { SigningKey } from "./signing-key.js";

export interface Signed {
  readonly kind: "request" | "delivery";
  readonly digest: string;
  readonly envelope: Envelope;
  /** Where the signature now lies. */
  readonly written: string;
}

export interface SignInput {
  readonly path: string;
  readonly key: SigningKey;
  readonly sidecar: boolean;
  /** What the harness knows of its own run; null when a finished bundle is signed. */
  readonly facts: RunFacts | null;
}

/** Signs what lies at `path`, once it was read to its end and found whole. */
export async function signBundle({ path, key, sidecar, facts }: SignInput, context: Context): Promise<Signed> {
  // The file is copied while it is read, so that adding the signature takes no time of its own.
  const early = !sidecar && hasPlaceInside(path) ? new EarlyCopy(path) : null;
  try {
    const { kind, digest, statement } = await statementFor(path, facts, context);
    const envelope = await signStatement(statement, key.sign);
    const copy = (await early?.ready()) === true ? early! : null;
    const written = await addSignatures(path, { envelopes: [envelope], sigstore: [] }, { sidecar, copy }, context);
    return { kind, digest, envelope, written };
  } finally {
    await early?.remove();
  }
}

export interface Said extends Pick<Signed, "kind" | "digest"> {
  readonly statement: Statement;
}

/** What can be vouched for, of a bundle or folder that was read to its end and found whole. */
export async function statementFor(path: string, facts: RunFacts | null, context: Context): Promise<Said> {
  const { manifest, digest, result } = await readWhole(path, null, context);
  const kind = manifest.bundle_type;
  if (kind !== "request" && kind !== "delivery") {
    throw new NutError("USAGE", `${path} is a ${kind}: only requests and deliveries are signed`, {
      hint: `nutshell inspect ${shellWord(path)}`,
    });
  }
  const bundle = { id: manifest.id, digest };
  const at = context.now();
  const statement: Statement =
    kind === "request"
      ? requestStatement(bundle, manifest, at)
      : deliveryStatement({ bundle, at, facts, ...answered(path, manifest, result) });
  return { kind, digest, statement };
}

/** Throws before hours of work when the key cannot sign: a passphrase, a missing token, a kind we do not know. */
export async function tryKey({ sign }: SigningKey): Promise<void> {
  await sign(Buffer.from("nutshell: can this key sign?\n"));
}

/** A delivery, and the request it answers. Who signs vouches for both, so both must be named. */
function answered(path: string, manifest: Manifest, result: string | null) {
  const delivery = Delivery.safeParse(result === null ? manifest : parse(result)).data;
  const digest = delivery?.digests?.request;
  const id = delivery?.request_id ?? manifest.request_id;
  if (delivery === undefined || digest === undefined || id === undefined) {
    throw new NutError(
      "MANIFEST_INVALID",
      `${path}: the delivery does not name the request it answers and its digest`,
      {
        hint: `nutshell validate ${shellWord(path)}`,
        data: { path },
      },
    );
  }
  return { delivery, request: { id, digest } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
