// Rotating without publishing again: a small file that carries the new vault (encrypted as ever) and its scopes, signed
// with the publisher's Ed25519 identity. A holder accepts it only from the key their own manifest names, for that bundle,
// and only if it is newer than what they have.
import { z } from "zod";
import { NutError } from "../errors.js";
import { CredentialScope } from "../schema/manifest.js";
import { BundleId, Timestamp } from "../schema/shared.js";
import { BACKENDS } from "./backend.js";
import { type PeerIdentity, sign } from "./peer.js";
import { verifySignature } from "./peer-key.js";

/** Signed together with the content, so that a signature made for anything else never fits here. */
const DOMAIN = "nutshell rotation 1\n";

export const Rotation = z.strictObject({
  bundle_id: BundleId,
  sequence: z.int().positive().describe("grows with every rotation of this bundle"),
  issued_at: Timestamp,
  encryption: z.enum(BACKENDS),
  vault: z.base64().describe("the new vault file, encrypted"),
  scopes: z.array(CredentialScope),
});
export type Rotation = z.infer<typeof Rotation>;

/** `payload` is text and is signed as it stands: no second way to write it can differ from what was signed. */
export const SignedRotation = z.strictObject({
  rotation_version: z.literal("0.2.0"),
  payload: z.string(),
  public_key: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits"),
  signature: z.string().regex(/^[0-9a-f]{128}$/, "must be 128 hex digits"),
});
export type SignedRotation = z.infer<typeof SignedRotation>;

export interface VaultHolder {
  readonly bundleId: string;
  /** publisher.public_key of the holder's own manifest. */
  readonly publicKey: string | undefined;
  /** The last rotation they applied; 0 for none. */
  readonly sequence: number;
}

export function signRotation(rotation: Rotation, identity: PeerIdentity): SignedRotation {
  const payload = JSON.stringify(rotation);
  return {
    rotation_version: "0.2.0",
    payload,
    public_key: Buffer.from(identity.publicKey).toString("hex"),
    signature: Buffer.from(sign(Buffer.from(DOMAIN + payload, "utf8"), identity)).toString("hex"),
  };
}

/** Throws ROTATION_REFUSED unless the file is from this bundle's publisher, for this bundle, and newer. */
export function readRotation(text: string, holder: VaultHolder): Rotation {
  const signed = parse(SignedRotation, text, "it is not a rotation file");
  if (holder.publicKey === undefined) {
    throw refuse("the manifest names no publisher key (publisher.public_key), so nobody's rotation can be trusted");
  }
  if (signed.public_key !== holder.publicKey.toLowerCase()) {
    throw refuse("it is signed by another key than the one this bundle's manifest names");
  }
  const message = Buffer.from(DOMAIN + signed.payload, "utf8");
  if (!verifySignature(Buffer.from(signed.signature, "hex"), message, Buffer.from(signed.public_key, "hex"))) {
    throw refuse("its signature does not fit its content");
  }
  const rotation = parse(Rotation, signed.payload, "its content is not a rotation");
  if (rotation.bundle_id !== holder.bundleId) throw refuse(`it is for bundle ${rotation.bundle_id}`);
  if (rotation.sequence <= holder.sequence) {
    throw refuse(`it is number ${rotation.sequence}, and number ${holder.sequence} was applied already`);
  }
  return rotation;
}

function parse<Schema extends z.ZodType>(schema: Schema, text: string, why: string): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse(why);
  }
  const result = schema.safeParse(value);
  if (!result.success) throw refuse(why);
  return result.data;
}

function refuse(why: string): NutError {
  return new NutError("ROTATION_REFUSED", `the rotation is refused: ${why}`);
}
