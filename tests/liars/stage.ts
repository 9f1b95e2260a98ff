// Files on disk: a row's request, its repository, its work.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Content, Files, JsonObject, World } from "./table.js";

export const REQUEST_ID = "nut-0f000000-0000-4000-8000-00000000000a";

export function putFiles(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) putFile(join(root, path), content);
}

function putFile(path: string, content: Content): void {
  rmSync(path, { recursive: true, force: true });
  if (content === null) return;
  mkdirSync(dirname(path), { recursive: true });
  if (typeof content === "string") writeFileSync(path, content);
  else if ("run" in content) {
    writeFileSync(path, content.run);
    chmodSync(path, 0o755);
  } else if ("bytes" in content) writeFileSync(path, Buffer.from(content.bytes, "base64"));
  else if ("mode" in content) {
    writeFileSync(path, content.text);
    chmodSync(path, content.mode);
  } else if ("link" in content) symlinkSync(content.link, path);
  else mkdirSync(path);
}

/** A place of its own for one row; gone afterwards. */
export async function inPlace<T>(work: (place: string) => Promise<T>): Promise<T> {
  const place = mkdtempSync(join(tmpdir(), "liars-"));
  for (const folder of ["home", "tmp"]) mkdirSync(join(place, folder));
  try {
    return await work(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function manifestOf(world: World): JsonObject {
  return {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: REQUEST_ID,
    created_at: "2026-03-14T10:00:00Z",
    task: { title: world.task, summary: `${world.task}.` },
    tags: { skills_required: [world.stack] },
    context: { requirements: "context/requirements.md" },
    acceptance: {
      ...(world.criteria === undefined ? {} : { criteria_file: "tests/criteria.json" }),
      ...world.acceptance,
    },
    harness: { execution_strategy: "one-shot", constraints: world.constraints ?? [] },
  };
}

export interface Stage {
  readonly request: string;
  /** The untouched tree the work begins with: the request, or the repository. */
  readonly base: string;
  readonly baseFiles: Files;
  /** Flags that tell the programs where the repository is. */
  readonly flags: readonly string[];
}

export function setUp(place: string, world: World): Stage {
  const request = join(place, "request");
  putFiles(request, {
    "nutshell.json": `${JSON.stringify(manifestOf(world), null, 2)}\n`,
    "context/requirements.md": `# ${world.task}\n\n${world.task}. The checks in tests/ say when it is done.\n`,
    ...(world.criteria === undefined
      ? {}
      : {
          "tests/criteria.json": `${JSON.stringify({ criteria_version: "0.2.0", criteria: world.criteria }, null, 2)}\n`,
        }),
    ...world.files,
  });
  if (world.repository === undefined) return { request, base: request, baseFiles: world.files, flags: [] };
  const base = join(place, "repository");
  putFiles(base, world.repository);
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", base, "-c", "user.name=a", "-c", "user.email=a@a.invalid", ...args], {
      stdio: "ignore",
    });
  git("init", "-q", "-b", "main");
  git("add", "-A", "-f");
  git("commit", "-q", "-m", "begin");
  return { request, base, baseFiles: world.repository, flags: ["--base", base] };
}

export const copy = (from: string, to: string) => execFileSync("cp", ["-a", from, to]);
