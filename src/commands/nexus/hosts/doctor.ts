import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { loadCatalog } from "../../../catalog/index.js";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { dim, green, red, size, table, yellow } from "../../../cli/text.js";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import {
  findHost,
  HOST_NAMES,
  type Host,
  type InstallFile,
  type InstallInput,
  installFiles,
  type Scope,
} from "../../../hosts/index.js";
import type { Context } from "../../../operation.js";
import { askVersion, findProgram, howKnown, KNOWN_VERSIONS, sandboxHealth, versionIn } from "../../../process/index.js";
import { countEntries } from "../../../request/install/cache.js";
import { bytesIn, runIds, runsFolder } from "../../../run/index.js";
import { openProject } from "../../../state/index.js";
import { VERSION } from "../../../version.js";
import { behindLinks } from "./behind-links.js";
import { askClaude, claudeChecks, withClaude } from "./claude-checks.js";
import { alikeChecks, DoctorCheck, denyListCheck, hooksCheck, serverCheck, trustCheck } from "./doctor-checks.js";
import { installInput } from "./install-input.js";
import { layerChecks } from "./layer-checks.js";
import { readReceipt, receiptPath } from "./receipt.js";
import { planSetup, type SetupPlan } from "./setup-plan.js";

const MARKS = { ok: green("ok"), absent: dim("–"), warning: yellow("warning"), problem: red("problem") };

export default command({
  name: "doctor",
  summary: "what is installed where, and whether it works",
  input: z.object({
    host: positional(z.enum(HOST_NAMES).optional(), {
      about: "claude, codex, opencode, qwen or gemini; all when left out",
    }),
  }),
  output: z.object({ ok: z.boolean(), version: z.string(), checks: z.array(DoctorCheck) }),
  about: [
    "Starts the MCP server, runs every hook the way a host would, reads the deny lists back, and asks Codex which hooks it trusts and Claude Code what it makes of its settings.",
    "Answers 1 when something is wrong; each problem comes with its fix.",
  ],
  examples: [
    ["nexus doctor", "everything"],
    ["nexus doctor codex --json", "one host, for a script"],
  ],
  async run({ host: only }, context) {
    const node = process.execPath;
    const checks = [
      nodeCheck(node, process.version),
      await sandboxCheck(context),
      spaceCheck(context),
      ...installedCheck(context),
      ...(await configChecks(node, context)),
    ];
    const input = await installInput({ host: findHost("claude")!, scope: "project", node }, context);
    checks.push(await serverCheck(input, context));
    for (const name of HOST_NAMES) {
      if (only !== undefined && only !== name) continue;
      context.progress({ type: "doctor", message: `looking at ${name}` });
      checks.push(...(await hostChecks(findHost(name)!, node, context)));
    }
    // What was stopped on the way is not what is wrong here.
    context.signal.throwIfAborted();
    return { ok: checks.every(({ state }) => state !== "problem"), version: VERSION, checks };
  },
  text: ({ checks, ok }) => [
    ...table(checks.map(({ what, state, message }) => [MARKS[state], what, message])),
    ...checks
      .filter(({ fix, state }) => fix !== undefined && state !== "ok")
      .map(({ what, fix }) => `fix ${what}: ${fix}`),
    ok ? "nothing is wrong" : "something is wrong",
  ],
  exit: ({ ok }) => (ok ? 0 : 1),
});

const OLDEST = [20, 19] as const;

function nodeCheck(node: string, version: string): DoctorCheck {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const recent = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  if (recent) return { what: "node", state: "ok", message: `${node} ${version}` };
  return {
    what: "node",
    state: "problem",
    message: `${version} is too old`,
    fix: `install Node ${OLDEST.join(".")} or newer`,
  };
}

async function sandboxCheck({ env }: Context): Promise<DoctorCheck> {
  const { state, message, fix } = await sandboxHealth(env);
  const consequence =
    state === "none"
      ? "what a role changes is still detected and put back"
      : "shells of roles that may not edit run read-only";
  return {
    what: "sandbox",
    state: state === "held" ? "ok" : "warning",
    message: `${message}; ${consequence}`,
    ...(fix === undefined ? {} : { fix }),
  };
}

/** More than this, and a person should know. */
const MUCH_SPACE = 1024 ** 3;

function spaceCheck({ cwd, env }: Context): DoctorCheck {
  const folder = runsFolder(openProject(cwd, { env }).root);
  const [count, bytes] = [runIds(folder).length, bytesIn(folder)];
  const message = count === 0 ? "none yet" : `${count}, taking ${size(bytes)}`;
  if (bytes < MUCH_SPACE) return { what: "runs", state: "ok", message };
  return { what: "runs", state: "warning", message, fix: "nexus runs --prune --older-than 30d" };
}

/** What was installed for checks lies in this account's cache, for all projects. */
function installedCheck({ env }: Context): DoctorCheck[] {
  const found = countEntries(env);
  if (found === null || found.count === 0) return [];
  const bytes = bytesIn(found.folder);
  const message = `${found.count} for checks, taking ${size(bytes)} in ${found.folder}`;
  if (bytes < MUCH_SPACE) return [{ what: "installed", state: "ok", message }];
  return [{ what: "installed", state: "warning", message, fix: `rm -r ${shellWord(found.folder)}` }];
}

async function configChecks(node: string, context: Context): Promise<DoctorCheck[]> {
  const { root } = await installInput({ host: findHost("claude")!, scope: "project", node }, context);
  const { findings } = await loadCatalog({ configFile: join(root, ".nexus/config.yml") });
  return findings.map(({ severity, message, fix }) => ({
    what: "configuration",
    state: severity === "error" ? ("problem" as const) : ("warning" as const),
    message,
    ...(fix === undefined ? {} : { fix }),
  }));
}

async function hostChecks(host: Host, node: string, context: Context): Promise<DoctorCheck[]> {
  const program = await programCheck(host, context);
  const checks: DoctorCheck[] = [program];
  let installed = false;
  for (const scope of ["project", "user"] as const) {
    const input = await installInput({ host, scope, node }, context);
    const found = installCheck(host, scope, input, context);
    if (found === null) continue;
    installed = true;
    checks.push(found, await hooksCheck(host, scope, input, context), denyListCheck(host, scope, input));
    if (host.name === "claude") checks.push(...claudeChecks(scope, input));
    if (host.name === "codex" && scope === "project") checks.push(...alikeChecks(input));
    if (host.name === "codex" && (program.state === "ok" || program.state === "warning"))
      checks.push(await trustCheck(scope, input, context));
  }
  if (installed && (host.name === "qwen" || host.name === "gemini"))
    checks.push(...layerChecks(host.name, await installInput({ host, scope: "project", node }, context)));
  const claude = host.name === "claude" && installed ? findProgram("claude", context.env) : null;
  if (claude !== null) {
    const { root } = await installInput({ host, scope: "project", node }, context);
    return withClaude(checks, await askClaude(claude, root, context));
  }
  if (!installed)
    checks.push({
      what: host.name,
      state: "absent",
      message: `not set up for this project or this person`,
      fix: `nexus setup ${host.name}`,
    });
  return checks;
}

async function programCheck({ name, title }: Host, { env, signal }: Context): Promise<DoctorCheck> {
  const what = `${name} program`;
  const program = findProgram(name, env);
  if (program === null) return { what, state: "absent", message: `${title} is not on the PATH` };
  const said = await askVersion({ path: program, env, signal });
  if (said === null)
    return { what, state: "problem", message: `${program} does not say its version`, fix: `reinstall ${title}` };
  const line = said.split("\n")[0] ?? "";
  const version = versionIn(line);
  const { oldest, tried, install } = KNOWN_VERSIONS[name];
  const known = version === null ? "untried" : howKnown(version, KNOWN_VERSIONS[name]);
  if (known === "tried") return { what, state: "ok", message: `${program} ${line}` };
  if (known === "old")
    return { what, state: "problem", message: `${program} ${line}: too old, ${oldest} is needed`, fix: install };
  return { what, state: "warning", message: `${program} ${line}: not tried with Nexus, ${tried} was`, fix: install };
}

/** Whether what is there is what this version would write; null when nothing is there. */
function installCheck(host: Host, scope: Scope, input: InstallInput, { env }: Context): DoctorCheck | null {
  const what = `${host.name} ${scope}`;
  const receipt = readReceipt(receiptPath(input.home, env, { host: host.name, scope, root: input.root }));
  let files: readonly InstallFile[] = installFiles(host.name, input);
  if (receipt === null && !files.some((file) => "content" in file && existsSync(file.path))) return null;
  const fix = `nexus setup ${host.name}${scope === "user" ? " --scope user" : ""}`;
  let plan: SetupPlan;
  try {
    files = behindLinks(files, input);
    plan = planSetup(files, receipt);
  } catch (error) {
    const refusal = error instanceof NutError ? error : fromSystemError(error);
    if (refusal === null) throw error;
    // Doctor changes nothing in any case.
    const message = refusal.message.replace(/; nothing was changed$/, "");
    return { what, state: "problem", message, fix: refusal.hint ?? fix };
  }
  const { changes, kept } = plan;
  const stale = changes.filter(({ before, after }) => before !== after);
  if (stale.length > 0)
    return {
      what,
      state: "problem",
      message: `${stale.length} of ${files.length} files are missing or not those of version ${VERSION}: ${stale
        .slice(0, 3)
        .map(({ path }) => path)
        .join(", ")}`,
      fix,
    };
  if (kept.length > 0)
    return {
      what,
      state: "warning",
      // A person's own, or what a colleague's nexus of another version wrote.
      message: `not as version ${VERSION} writes them, and not written here: ${kept.join(", ")}`,
      fix: `if they are not yours, remove them, then: ${fix}`,
    };
  return { what, state: "ok", message: `${files.length} files, as version ${VERSION} writes them` };
}
