import type { Manifest } from "../../schema/manifest.js";

/**
 * Files the viewer never shows: the vault and everything that stands beside it, wherever the manifest says it is.
 * Names are compared without case, since the bundle may come from a system that ignores it.
 */
export function withheldRule(manifest: Manifest): (path: string) => boolean {
  const named = new Set(
    [manifest.credentials?.vault, manifest.apis?.credential_ref]
      .filter((path): path is string => typeof path === "string")
      .map(clean),
  );
  return (path) => {
    const own = clean(path);
    return own.startsWith("credentials/") || named.has(own) || /(?:^|\/)vault(?:\.enc)?\.(?:json|age|ya?ml)$/.test(own);
  };
}

const clean = (path: string) => path.replace(/^(?:\.\/)+/, "").toLowerCase();
