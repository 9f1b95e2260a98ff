// A request, a result and a place to work, all fresh.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AcceptanceOptions, type AcceptanceReport, copyTree, runAcceptance } from "../../src/acceptance/index.js";
import type { Manifest } from "../../src/schema/manifest.js";

export interface Bench {
  readonly folder: string;
  readonly request: string;
  readonly result: string;
  readonly manifest: Manifest;
  accept(options?: Partial<AcceptanceOptions>): Promise<AcceptanceReport>;
  /** Status and reason by criterion. */
  outcomes(options?: Partial<AcceptanceOptions>): Promise<Record<string, string>>;
  remove(): void;
}

export function put(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** `files` is the untouched request, `work` what the agent made of it. */
export function bench(
  criteria: readonly object[],
  files: Record<string, string>,
  work: Record<string, string>,
  more: Partial<Manifest> = {},
): Bench {
  const folder = mkdtempSync(join(tmpdir(), "nut-accept-"));
  const [request, result] = [join(folder, "request"), join(folder, "result")];
  const manifest: Manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-11111111-1111-4111-8111-111111111111",
    task: { title: "make it work" },
    acceptance: { criteria_file: "tests/criteria.json" },
    ...more,
  };
  put(request, {
    "nutshell.json": JSON.stringify(manifest),
    "tests/criteria.json": JSON.stringify({ criteria }),
    ...files,
  });
  copyTree(request, result);
  put(result, work);
  const accept = (options: Partial<AcceptanceOptions> = {}) =>
    runAcceptance({ request, manifest, result, workDir: join(folder, "work"), env: process.env, ...options });
  return {
    folder,
    request,
    result,
    manifest,
    accept,
    outcomes: async (options) => {
      const { results } = await accept(options);
      return Object.fromEntries(
        results.map(({ id, status, reason }) => [id, reason === undefined ? status : `${status}: ${reason}`]),
      );
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
