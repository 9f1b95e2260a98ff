import { NutError } from "../errors.js";

/** `oci://host[:port]/repository[:tag]`, or `@sha256:…` instead of a tag. */
export interface Reference {
  readonly host: string;
  readonly repository: string;
  /** A tag, or a digest; `latest` when none was typed. */
  readonly name: string;
  /** false: no tag or digest was typed. */
  readonly isNamed: boolean;
}

const STEP = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const PATTERN = new RegExp(
  `^oci://([A-Za-z0-9.-]+|\\[[0-9a-f:]+\\])(:\\d{1,5})?/(${STEP}(?:/${STEP})*)(?::(\\w[\\w.-]{0,127})|@(sha256:[0-9a-f]{64}))?$`,
);

export function parseReference(text: string): Reference {
  const [, host, port = "", repository, tag, digest] = PATTERN.exec(text) ?? [];
  if (host === undefined || repository === undefined || repository.length > 255) {
    throw new NutError("REGISTRY_BAD_ADDRESS", `"${text.slice(0, 200)}" is not a place in a registry`, {
      hint: "write it as oci://host/repository:tag",
    });
  }
  return {
    host: `${host}${port}`,
    repository,
    name: digest ?? tag ?? "latest",
    isNamed: (digest ?? tag) !== undefined,
  };
}

/** This machine itself, the only place plain http is spoken to. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || hostname === "::1" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

export function baseUrl(host: string): URL {
  const plain = new URL(`http://${host}`);
  return isLoopback(plain.hostname) ? plain : new URL(`https://${host}`);
}
