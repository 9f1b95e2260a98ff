// A look at a request before anything is made for it.
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { type Bundle, openBundle, readManifest, withNotedRows } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { unsealed } from "../../request/pack/sealed.js";
import { settleFolder } from "../../request/vault/both-or-neither.js";
import { DEMO_SCRIPT } from "../demo/script.js";

export interface Peek {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
}

/** The request's name, before anything is made for it. */
export async function peekRequest(source: string, identity: readonly string[], context: Context): Promise<Peek> {
  const stats = lstatSync(source, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new NutError("FILE_NOT_FOUND", `${source}: no such file or folder`, { data: { path: source } });
  }
  if (stats.isDirectory()) settleFolder(source, context);
  const manifest = withNotedRows(
    stats.isDirectory()
      ? readManifest(source)
      : await inBundle(source, identity, context, async ({ manifest: found }) => found),
  );
  const title = manifest.task?.title ?? "request";
  const words = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  return {
    id: manifest.id,
    title,
    slug:
      [...words]
        .slice(0, 60)
        .join("")
        .replace(/^-+|-+$/g, "") || "request",
  };
}

/** Whether the demo agent has a part to play in it. */
export async function carriesDemoScript(
  source: string,
  identity: readonly string[],
  context: Context,
): Promise<boolean> {
  if (lstatSync(source).isDirectory()) return existsSync(join(source, DEMO_SCRIPT));
  return inBundle(source, identity, context, (bundle) => bundle.has(DEMO_SCRIPT));
}

/** A sealed one with a named key or one's own. */
async function inBundle<T>(
  path: string,
  identity: readonly string[],
  context: Context,
  look: (bundle: Bundle) => Promise<T>,
): Promise<T> {
  const bundle = await openBundle(await unsealed(path, identity, context));
  try {
    return await look(bundle);
  } finally {
    await bundle.close();
  }
}
