// What a request's checks need installed, prepared for a tree: found in the cache, or made once, with the network only when
// the person who runs it says so. One place for `nexus run`, `accept`, `verify --rerun` and `finish`.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { isAbsolute, join, posix } from "node:path";
import {
  CACHES,
  type Inputs,
  type Installed,
  type Installer,
  type InstallStep,
  inputsOf,
  installedIn,
  installSteps,
  makeLayer,
  RECIPES,
  TREE,
} from "../../acceptance/index.js";
import { NutError } from "../../errors.js";
import { byBytes } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { findBwrap, findProgram, visiblePath } from "../../process/index.js";
import type { Manifest } from "../../schema/manifest.js";
import { findEntry, makeEntry } from "./cache.js";

export interface InstallQuestion {
  readonly manifest: Manifest;
  /** --allow-install, or a yes to the question that spoke of it. */
  readonly allowed: boolean;
  /** The person does not want to be asked. */
  readonly silent: boolean;
}

/** undefined when the request needs nothing installed. */
export function openInstaller(question: InstallQuestion, context: Context): Installer | undefined {
  const steps = installSteps(question.manifest);
  if (steps.length === 0) return undefined;
  const known = new Map<string, Promise<string>>();
  let allowed: Promise<boolean> | null = question.allowed ? Promise.resolve(true) : null;
  const isAllowed = (missing: InstallStep) => {
    allowed ??= question.silent || context.ask === null ? Promise.resolve(false) : ask(missing, context);
    return allowed;
  };
  const tools = new Map<string, Promise<string>>();
  return async (files) => {
    const parts: Part[] = [];
    for (const step of steps) {
      const inputs = inputsOf(step, files);
      const key = await keyOf(step, inputs, question.manifest, (name) => versionOf(name, step, tools, context));
      const tree = known.get(key) ?? prepare({ step, inputs, key }, isAllowed, context);
      known.set(key, tree);
      parts.push({ step, key, tree: await tree });
    }
    return together(parts);
  };
}

interface Part {
  readonly step: InstallStep;
  readonly key: string;
  readonly tree: string;
}

function together(parts: readonly Part[]): Installed {
  const of = ({ step, tree }: Part) => {
    const { bin, use = {} } = RECIPES[step.kind];
    const folder = step.kind === "script" ? "." : posix.dirname(step.path);
    const found = installedIn(tree);
    const bins = bin === undefined ? found.map((path) => `${path}/bin`) : [posix.join(folder, bin)];
    return {
      folders: found.map((path) => {
        const from = join(tree, path);
        return { path, from, caches: posix.basename(path) === "node_modules" ? CACHES : [] };
      }),
      bins: bins.filter((path) => /(?:^|\/)\.venv\/bin$/.test(path) && existsSync(join(tree, path))),
      env: Object.fromEntries(
        Object.entries(use).map(([name, text]) => [name, text.replace("{here}", posix.join("{tree}", folder))]),
      ),
    };
  };
  const all = parts.map(of);
  return {
    key: parts.map(({ key }) => key).join("+"),
    layers: parts.map(({ tree }) => tree),
    place: TREE,
    folders: all.flatMap(({ folders }) => folders),
    bins: all.flatMap(({ bins }) => bins),
    env: Object.assign({}, ...all.map(({ env }) => env)),
  };
}

/** Changes when what is installed could: what it is made of, for whom, by which programs. */
async function keyOf(
  { path, kind, network }: InstallStep,
  inputs: Inputs,
  { publisher = {} }: Manifest,
  version: (program: string) => Promise<string>,
): Promise<string> {
  const { programs, run } = RECIPES[kind];
  const versions = await Promise.all([...programs, ...(kind === "script" ? SCRIPT_PROGRAMS : [])].map(version));
  const digest = createHash("sha256");
  const { name, contact, public_key: key } = publisher;
  const head = { form: 1, path, kind, run, network, publisher: { name, contact, key }, versions };
  digest.update(`${JSON.stringify({ ...head, machine: [process.platform, process.arch] })}\n`);
  for (const [file, content] of [...inputs].sort(([a], [b]) => byBytes(a, b))) {
    const bytes = "text" in content ? Buffer.from(content.text) : readFileSync(content.from);
    const executable = "from" in content && (lstatSync(content.from).mode & 0o111) !== 0;
    digest.update(`${executable ? "x" : "f"} ${createHash("sha256").update(bytes).digest("hex")} ${file}\n`);
  }
  return digest.digest("hex");
}

/** What a script may use, where it is there. */
const SCRIPT_PROGRAMS = ["node", "npm", "python3"];

/** What a program says of itself. Throws PROGRAM_MISSING for one that a lock file needs. */
function versionOf(name: string, step: InstallStep, known: Map<string, Promise<string>>, { env }: Context) {
  const asked = known.get(name) ?? askVersion(name, { ...env, PATH: visiblePath(env) });
  known.set(name, asked);
  return asked.then((version) => {
    if (version !== "" || step.kind === "script") return version;
    throw new NutError(
      "PROGRAM_MISSING",
      `${step.path} is installed with ${name}, which is not on PATH or does not work`,
      {
        hint: `install ${name}, or put its folder on PATH: command -v ${name}`,
        data: { program: name },
      },
    );
  });
}

function askVersion(name: string, env: Context["env"]): Promise<string> {
  if (name === "sh") return Promise.resolve(findProgram(name, env) === null ? "" : "sh");
  return answerOf(name, name === "go" ? ["version"] : ["--version"], env).then((said) =>
    said === "" ? "" : `${name} ${said.trim()}`,
  );
}

interface Missing {
  readonly step: InstallStep;
  readonly inputs: Inputs;
  readonly key: string;
}

async function prepare(
  { step, inputs, key }: Missing,
  isAllowed: (step: InstallStep) => Promise<boolean>,
  context: Context,
): Promise<string> {
  const known = findEntry(key, context);
  if (known !== null) return known;
  const bwrap = await findBwrap(context.env);
  if (bwrap?.accounts !== true || (!step.network && !bwrap.network)) {
    throw new NutError("SANDBOX_MISSING", `${step.path} is installed in a sandbox, and there is none here`, {
      hint: "nexus doctor says what is missing",
      data: { path: step.path },
    });
  }
  if (step.network && !(await isAllowed(step))) throw notAllowed(step);
  const { env, signal } = context;
  const network = step.network ? await wayOut(step, context) : null;
  context.progress({ type: "install_started", path: step.path, message: `installing ${step.path} ${how(step)}` });
  return makeEntry(key, (folder) => makeLayer({ step, inputs, folder, env, network, signal }), context);
}

const how = ({ kind, network }: Pick<InstallStep, "kind" | "network">): string =>
  `${kind === "script" ? "by running it" : `with ${kind}`}${network ? ", with your network" : ", without a network"}`;

/** As a question has it: whoever says yes must know how far that reaches. */
const asked = (step: InstallStep): string =>
  `${step.path} ${how(step)}${step.network ? " (any address, this machine's own too)" : ""}`;

export const installWords = (manifest: Manifest): string[] => installSteps(manifest).map(asked);

function ask(step: InstallStep, { ask: prompter }: Context): Promise<boolean> {
  const words = [
    `The checks need what ${step.path} says, and it is not installed here yet.`,
    `  installs: ${asked(step)}`,
    "  files: a copy of what it is made of; kept in your cache, read-only for agents and checks",
    "Install it?",
  ];
  return prompter!.confirm(words.join("\n"), { initial: false });
}

function notAllowed({ path }: InstallStep): NutError {
  return new NutError(
    "INSTALL_NOT_ALLOWED",
    `${path} is not installed here yet, and nobody allowed the network for it`,
    {
      hint: "add --allow-install: it is installed once, in a sandbox with your network, and needs none afterwards",
      data: { path },
    },
  );
}

/** Where packages come from on this machine. Addresses that hold a password stay here. */
const PASSED_ON = [
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"],
  ...["npm_config_registry", "NPM_CONFIG_REGISTRY", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL"],
  ...["UV_DEFAULT_INDEX", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOINSECURE"],
];
const TRUSTED_FILES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"];

async function wayOut({ kind }: InstallStep, { env }: Context) {
  const said = PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const named: Record<string, string> = { ...(await ownSettings(kind, env)), ...Object.fromEntries(said) };
  const plain = Object.entries(named).filter(([, text]) => !/\/\/[^/\s]*@/.test(text));
  const trusted = TRUSTED_FILES.filter((name) => isAbsolute(env[name] ?? "") && existsSync(env[name]!));
  return {
    env: Object.fromEntries([...plain, ...trusted.map((name) => [name, env[name]!] as const)]),
    files: trusted.map((name) => env[name]!),
  };
}

/** The person's own settings are not in the sandbox; where their packages come from is no secret. */
async function ownSettings(kind: InstallStep["kind"], env: Context["env"]): Promise<Record<string, string>> {
  const asked = async (name: string, args: readonly string[]) => (await answerOf(name, args, env)).trim();
  if (kind === "npm" || kind === "pnpm") {
    const registry = await asked("npm", ["config", "get", "registry"]);
    return URL.canParse(registry) ? { npm_config_registry: registry } : {};
  }
  if (kind === "pip") {
    const list = await asked("python3", ["-m", "pip", "config", "list"]);
    const index = /^(?:global|install)\.index-url='(https?:[^']*)'$/m.exec(list)?.[1];
    return index === undefined ? {} : { PIP_INDEX_URL: index };
  }
  if (kind !== "go") return {};
  const values = (await answerOf("go", ["env", ...GO_SETTINGS], env)).split("\n");
  return Object.fromEntries(GO_SETTINGS.flatMap((name, index) => (values[index] ? [[name, values[index]]] : [])));
}

const GO_SETTINGS = ["GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOINSECURE"];

/** What a program prints; nothing when it is not there or fails. */
function answerOf(name: string, args: readonly string[], env: Context["env"]): Promise<string> {
  const program = findProgram(name, env);
  if (program === null) return Promise.resolve("");
  return new Promise((done) => {
    execFile(program, args, { env: { ...env }, timeout: 30_000, cwd: "/" }, (error, text) =>
      done(error === null ? text : ""),
    );
  });
}
