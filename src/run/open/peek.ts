// A look at a request before anything is made for it.
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { openBundle, readManifest } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import { DEMO_SCRIPT } from "../demo/script.js";

export interface Peek {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
}

/** The request's name, before anything is made for it. */
export async function peekRequest(source: string): Promise<Peek> {
  const stats = lstatSync(source, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new NutError("FILE_NOT_FOUND", `${source}: no such file or folder`, { data: { path: source } });
  }
  const manifest = stats.isDirectory() ? readManifest(source) : await bundleManifest(source);
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
export async function carriesDemoScript(source: string): Promise<boolean> {
  if (lstatSync(source).isDirectory()) return existsSync(join(source, DEMO_SCRIPT));
  const bundle = await openBundle(source);
  try {
    return await bundle.has(DEMO_SCRIPT);
  } finally {
    await bundle.close();
  }
}

async function bundleManifest(path: string): Promise<Manifest> {
  const bundle = await openBundle(path);
  try {
    return bundle.manifest;
  } finally {
    await bundle.close();
  }
}
