// One installation, made: its inputs laid out where every room has its tree, the package manager run there in a sandbox that
// shows nothing else, and of what it leaves only the folders that are no part of any work.
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { NutError } from "../../errors.js";
import { removeFolder } from "../../files/index.js";
import { type Environment, isProgramPlace, type Mount, runChild } from "../../process/index.js";
import { isResult } from "../../trees/result-tree.js";
import { pathsIn } from "../../trees/tree.js";
import type { InstallStep } from "../plan/install-steps.js";
import { roomEnvironment } from "../room/environment.js";
import { CACHES } from "../room/room-tree.js";
import { HOME, TREE } from "../room/rooms.js";
import { type Inputs, RECIPES } from "./recipes.js";

const SCRATCH = "/var/tmp/install";
const TIMEOUT_MS = 30 * 60_000;
const MEMORY_FOLDER_BYTES = 2 * 1024 ** 3;
const TOLD_CHARACTERS = 600;

export interface LayerRequest {
  readonly step: InstallStep;
  readonly inputs: Inputs;
  /** An empty folder of ours; the installation lies in its `tree` afterwards. */
  readonly folder: string;
  readonly env: Environment;
  /** Where packages come from, and whom to trust on the way. */
  readonly network: { readonly env: Environment; readonly files: readonly string[] } | null;
  readonly signal: AbortSignal;
}

/** Throws INSTALL_FAILED with the last words of what was run. */
export async function makeLayer(request: LayerRequest): Promise<void> {
  const { step, inputs, folder, network, signal } = request;
  const [tree, scratch, accounts] = ["tree", "scratch", "etc"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [tree, scratch, accounts]) mkdirSync(path, { recursive: true });
  layOut(inputs, tree);
  const recipe = RECIPES[step.kind];
  const isScript = step.kind === "script";
  const here = isScript ? TREE : posix.join(TREE, posix.dirname(step.path));
  const filled = (env: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(env).map(([key, text]) => [key, text.replace("{here}", here).replace("{scratch}", SCRATCH)]),
    );
  const mounts: Mount[] = [
    { access: "writable", path: TREE, from: tree },
    { access: "writable", path: SCRATCH, from: scratch },
    ...(network?.files ?? []).map((path): Mount => ({ access: "read-only", path })),
  ];
  const { code, reason, exceeded, stdout, stderr } = await runChild({
    command: "sh",
    args: ["-ec", recipe.run, "sh", isScript ? step.path : posix.basename(step.path)],
    cwd: here,
    env: {
      ...roomEnvironment(request.env, { home: HOME, temporary: SCRATCH }, true),
      CI: "1",
      ...filled(recipe.env),
      ...network?.env,
    },
    sandbox: {
      root: "system",
      env: request.env,
      network: network === null ? "none" : "host",
      neutral: { home: HOME, folder: accounts, maxBytes: MEMORY_FOLDER_BYTES },
      mounts,
    },
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  signal.throwIfAborted();
  if (code !== 0) {
    const why =
      reason === "timeout" ? "its time was up" : reason === "limit" ? `it used more than ${exceeded}` : `exit ${code}`;
    throw failed(step, `${why}: ${lastWords(`${stdout.text}\n${stderr.text}`)}`);
  }
  for (const path of [scratch, accounts]) removeFolder(path);
  keepInstalled(request);
}

function layOut(inputs: Inputs, tree: string): void {
  for (const [path, content] of inputs) {
    const target = join(tree, path);
    mkdirSync(dirname(target), { recursive: true });
    if ("text" in content) writeFileSync(target, content.text);
    else {
      copyFileSync(content.from, target);
      chmodSync(target, (lstatSync(content.from).mode & 0o111) === 0 ? 0o644 : 0o755);
    }
  }
}

/** Names of folders that what was installed may lie in: no part of a result, so nobody's work is covered by them. */
const KEPT: ReadonlySet<string> = new Set(["node_modules", ".venv", ".cache"]);

/** Leaves what was installed and nothing else, as plain files, folders and links that lead nowhere secret. */
function keepInstalled(request: LayerRequest): void {
  const { step, folder } = request;
  const [made, kept] = [join(folder, "tree"), join(folder, "kept")];
  mkdirSync(kept);
  const found = installedIn(made);
  for (const path of found) {
    assertPlain(step, made, path, request.env);
    mkdirSync(dirname(join(kept, path)), { recursive: true });
    renameSync(join(made, path), join(kept, path));
    if (posix.basename(path) === "node_modules") {
      for (const name of CACHES) mkdirSync(join(kept, path, name), { recursive: true });
    }
  }
  if (found.length === 0 && step.kind === "script") {
    throw failed(step, "it left nothing in a folder called node_modules, .venv or .cache");
  }
  removeFolder(made);
  renameSync(kept, made);
}

/** The outermost folders of installed packages, by path. */
export function installedIn(tree: string, below = ""): string[] {
  return readdirSync(join(tree, below), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(below, entry.name);
    if (!entry.isDirectory()) return [];
    if (KEPT.has(entry.name)) return [path];
    return isResult(path) ? installedIn(tree, path) : [];
  });
}

function assertPlain(step: InstallStep, tree: string, folder: string, env: Environment): void {
  for (const inner of pathsIn(join(tree, folder))) {
    const path = posix.join(folder, inner);
    const stat = lstatSync(join(tree, path), { throwIfNoEntry: false });
    if (stat === undefined || stat.isDirectory()) continue;
    if (stat.isSymbolicLink()) {
      const target = readlinkSync(join(tree, path));
      if (leadsOut(path, target, env)) throw failed(step, `it left a link that leads out: ${path} → ${target}`);
    } else if (!stat.isFile()) throw failed(step, `it left something that is no file: ${path}`);
    // Nothing in there may become somebody else.
    else if ((stat.mode & 0o6000) !== 0) chmodSync(join(tree, path), stat.mode & 0o777);
  }
}

/** Inside the tree, or to a program of the system, as virtual environments have them. */
function leadsOut(path: string, target: string, env: Environment): boolean {
  const place = posix.normalize(target.startsWith("/") ? target : posix.join(TREE, posix.dirname(path), target));
  return !place.startsWith(`${TREE}/`) && !isProgramPlace(place, env);
}

const failed = ({ path, kind }: InstallStep, why: string): NutError =>
  new NutError("INSTALL_FAILED", `${path} could not be installed${kind === "script" ? "" : ` with ${kind}`}: ${why}`, {
    hint: `mend ${path}, or ask whoever wrote the request to; nutshell check shows what it names`,
    data: { path },
  });

function lastWords(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const words = lines.slice(-8).join(" | ");
  return words.length > TOLD_CHARACTERS ? `…${words.slice(-TOLD_CHARACTERS)}` : words || "it said nothing";
}
