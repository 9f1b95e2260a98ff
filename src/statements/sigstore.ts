// Statements in Sigstore bundles: signed with a certificate that lived minutes, entered in a public log. Mathematics and
// certificates are the project's own library; who is believed is said by the trust root somebody gives as a file.
import { parseJson } from "../files/index.js";
import { PAYLOAD_TYPE } from "../schema/statement.js";
import { kindOf, MAX_PAYLOAD_BYTES, type Opened, parseStatement, reject } from "./envelope.js";

/** Opens a bundle, a line of JSON, against one trust root. Never throws over what it was given. */
export type SigstoreVerifier = (line: string) => Opened;

/** Far above what a root needs. */
export const MAX_ROOT_BYTES = 4 * 1024 * 1024;

/** Reads a trusted_root.json. Throws what `refuse` makes of the reason when it is none. */
export async function loadSigstore(text: string, refuse: (why: string) => Error): Promise<SigstoreVerifier> {
  // Loaded only for who gives a root.
  const { Verifier, TrustedRoot, bundleFromJSON, toSignedEntity, toTrustMaterial } = await import(
    "./sigstore-library.js"
  );
  let verifier: InstanceType<typeof Verifier>;
  try {
    const root = TrustedRoot.fromJSON(parseJson(text, { maxDepth: 32 }));
    if (root.certificateAuthorities.length === 0) throw new Error("it names no certificate authority");
    // What a root does not list cannot be asked for; a time that somebody else vouches for always is.
    verifier = new Verifier(toTrustMaterial(root), {
      tlogThreshold: root.tlogs.length > 0 ? 1 : 0,
      ctlogThreshold: root.ctlogs.length > 0 ? 1 : 0,
      timestampThreshold: 1,
    });
  } catch (error) {
    throw refuse(`it is no trusted root of Sigstore (${shortly(error)})`);
  }
  return (line) => {
    try {
      const bundle = bundleFromJSON(parseJson(line, { maxDepth: 32 }));
      if (bundle.content.$case !== "dsseEnvelope") return reject("its Sigstore bundle holds no statement");
      const { payload, payloadType, signatures } = bundle.content.dsseEnvelope;
      if (payloadType !== PAYLOAD_TYPE || signatures.length !== 1) {
        return reject("its Sigstore bundle holds no statement with one signature");
      }
      if (payload.length > MAX_PAYLOAD_BYTES) return reject("its payload is too large");
      const { identity } = verifier.verify(toSignedEntity(bundle));
      const name = nameOf(identity?.subjectAlternativeName, identity?.extensions?.issuer);
      if (name === null) return reject("its certificate does not say who signed, or who vouches for that");
      const statement = parseStatement(payload);
      if (typeof statement === "string") return reject(statement);
      return { vouched: { kind: kindOf(statement), statement, key: null, identity: name } };
    } catch (error) {
      // Whatever the library makes of hostile bytes, they are not believed.
      return reject(`its Sigstore bundle does not hold (${shortly(error)})`);
    }
  };
}

const LONGEST = 100;
const shortly = (error: unknown): string => {
  const { message } = error as Error;
  return String(message).replace(/\s+/g, " ").slice(0, LONGEST);
};

/** `who issuer=by whose word`, one word each, so that no name can hold another's issuer. */
function nameOf(who: string | undefined, issuer: string | undefined): string | null {
  const isWord = (text: string | undefined) => text !== undefined && /^[\x21-\x7e]{1,512}$/.test(text);
  return isWord(who) && isWord(issuer) ? `${who}${ISSUER}${issuer}` : null;
}

const ISSUER = " issuer=";

/** An identity of Sigstore in its two words; null for a principal of allowed_signers, which has no blank in it. */
export function identityWords(principal: string): { readonly who: string; readonly issuer: string } | null {
  const at = principal.indexOf(ISSUER);
  return at < 0 ? null : { who: principal.slice(0, at), issuer: principal.slice(at + ISSUER.length) };
}
