// A request as a task for Harbor: what an agent is told, the tree it works in, and a script that runs the request's checks
// after it. What Harbor has no place for is listed, never dropped in silence.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type Check, planChecks } from "../../acceptance/index.js";
import { MANIFEST_NAME } from "../../bundle/index.js";
import { shellWord } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";

export interface HarborFile {
  readonly path: string;
  /** What it holds, or the file of the request it is a copy of. */
  readonly data?: string;
  readonly from?: string;
  readonly executable: boolean;
}

export interface HarborTask {
  readonly files: readonly HarborFile[];
  readonly checks: number;
  readonly image: string;
  readonly notCarried: readonly { readonly what: string; readonly why: string }[];
}

export interface HarborInput {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Every file of the request. */
  readonly entries: readonly { readonly path: string; readonly executable: boolean }[];
  readonly image?: string | undefined;
}

export function harborTask({ folder, manifest, entries, image }: HarborInput): HarborTask {
  const { checks, isOwnTest } = planChecks(folder, manifest);
  const lines = checks.flatMap((check) => lineOf(check) ?? []);
  const isKept = (path: string) => path !== MANIFEST_NAME && !isWithheld(path);
  const own = entries.filter(({ path }) => isKept(path) && isOwnTest(path));
  const work = entries.filter(({ path }) => isKept(path) && !isOwnTest(path));
  const chosen = image ?? imageFor(checks);
  const text = (path: string, data: string, executable = false): HarborFile => ({ path, data, executable });
  return {
    files: [
      text("task.toml", taskToml(manifest, checks)),
      text("instruction.md", instruction(folder, manifest)),
      text("environment/Dockerfile", `FROM ${chosen}\nWORKDIR /app\nCOPY app/ /app/\n`),
      ...work.map(({ path, executable }) => ({ path: posix.join("environment/app", path), from: path, executable })),
      text("tests/test.sh", testScript(lines), true),
      ...own.map(({ path, executable }) => ({ path: posix.join("tests/request", path), from: path, executable })),
    ],
    checks: lines.length,
    image: chosen,
    notCarried: notCarried(manifest, checks, entries),
  };
}

/** Secrets, and what only whoever verifies may see. */
const isWithheld = (path: string) => path.startsWith("credentials/") || path === "acceptance/hidden.age";

interface Line {
  readonly check: Check;
  readonly command: string;
}

const LINES: readonly (readonly [RegExp, (script: string) => string])[] = [
  [/\.(?:test|spec)\.[cm]?js$/, (script) => `node --test ${script}`],
  [/\.[cm]?js$/, (script) => `node ${script}`],
  [/(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/, (script) => `python3 -m pytest ${script}`],
  [/\.py$/, (script) => `python3 ${script}`],
  [/\.(?:sh|bash)$/, (script) => `bash ${script}`],
];

/** How a plain shell runs it; null when it takes more than that. */
function lineOf(check: Check): Line | null {
  const { automatic, command, script, kind } = check;
  if (!automatic || kind === "api_test" || kind === "sql_check" || needsMore(check)) return null;
  if (command !== undefined) return { check, command };
  if (script === undefined) return null;
  const way = kind === "node-test" ? LINES[0] : LINES.find(([ends]) => ends.test(script));
  return way === undefined ? null : { check, command: way[1](shellWord(script)) };
}

const needsMore = ({ start, setup, database, credential_ref: credential }: Check) =>
  [start, setup, database, credential].some((need) => need !== undefined);

/** 1 when every check passes, else 0; which did is in criteria.txt. Tests come from /tests, whatever the agent left there. */
function testScript(lines: readonly Line[]): string {
  return [
    "#!/bin/bash",
    "# Runs the checks of a nutshell request on what the agent left in /app.",
    `app=\${NUTSHELL_APP:-/app}; tests=\${NUTSHELL_TESTS:-/tests}; logs=\${NUTSHELL_LOGS:-/logs/verifier}`,
    'mkdir -p "$logs"; echo 0 > "$logs/reward.txt"; : > "$logs/criteria.txt"',
    '[ ! -d "$tests/request" ] || cp -R "$tests/request/." "$app/" || exit 1',
    'cd "$app" || exit 1',
    "failed=0",
    "check() { # id, seconds, exit status, command, words…",
    '  out=$(timeout "$2" bash -c "$4" 2>"$logs/stderr.txt"); status=$?; ok=passed',
    '  [ "$status" = "$3" ] || ok=failed',
    '  id=$1; shift 4; for words in "$@"; do case $out in *"$words"*) ;; *) ok=failed ;; esac; done',
    '  [ $ok = passed ] || failed=1; echo "$ok $id" | tee -a "$logs/criteria.txt"',
    "}",
    ...lines.map(({ check: { id, timeoutMs, expected }, command }) => {
      const said = [expected?.stdout_contains ?? []].flat();
      const words = [id, String(Math.ceil(timeoutMs / 1_000)), String(expected?.exit_code ?? 0), command, ...said];
      return `check ${words.map(quoted).join(" ")}`;
    }),
    lines.length === 0 ? 'echo "no check can be run here"' : '[ $failed = 1 ] || echo 1 > "$logs/reward.txt"',
    "",
  ].join("\n");
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

function instruction(folder: string, manifest: Manifest): string {
  const { task, context = {}, acceptance, harness } = manifest;
  const documents = [context.requirements, context.architecture].flatMap((path) => {
    if (path === undefined) return [];
    return [readFileSync(join(folder, path), "utf8").trim()];
  });
  const more = [context.references, ...(context.additional ?? [])].filter((path) => path !== undefined);
  const list = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`## ${title}`, items.map((item) => `- ${item}`).join("\n")];
  return `${[
    `# ${task?.title ?? "Task"}`,
    ...(task?.summary === undefined ? [] : [task.summary]),
    "Work in /app. The paths below are relative to it.",
    ...documents,
    ...list("To read", more),
    ...list("Done when", acceptance?.checklist ?? []),
    ...list("Limits", harness?.constraints ?? []),
  ].join("\n\n")}\n`;
}

/** Half an hour for an agent, unless the checks alone may take longer. */
const AGENT_SECONDS = 1_800;

function taskToml(manifest: Manifest, checks: readonly Check[]): string {
  const { task, tags, id } = manifest;
  const seconds = checks.reduce((sum, { timeoutMs }) => sum + Math.ceil(timeoutMs / 1_000), 60);
  const name = (task?.title ?? "request")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-+|-+$/g, "");
  const keywords = [...(tags?.skills_required ?? []), ...(tags?.domains ?? [])].map(toml).join(", ");
  return [
    'schema_version = "1.1"',
    "",
    "[task]",
    `name = ${toml(`nutshell/${name === "" ? "request" : name}`)}`,
    `description = ${toml(task?.title ?? "")}`,
    `keywords = [${keywords}]`,
    "",
    "[metadata]",
    `nutshell_id = ${toml(id)}`,
    "",
    "[verifier]",
    `timeout_sec = ${seconds.toFixed(1)}`,
    "",
    "[agent]",
    `timeout_sec = ${AGENT_SECONDS.toFixed(1)}`,
    "",
    "[environment]",
    "build_timeout_sec = 600.0",
    "",
  ].join("\n");
}

/** A basic string of TOML is one of JSON, but for DEL. */
const toml = (text: string) => JSON.stringify(text).replaceAll("\u007f", "\\u007f");

const IMAGES: readonly (readonly [RegExp, string])[] = [
  [/^(?:pytest)$|\bpython3?\b|\.py\b/, "python:3.12-bookworm"],
  [/^(?:go-test)$|\bgo test\b/, "golang:1.23-bookworm"],
  [/^(?:cargo-test)$|\bcargo\b/, "rust:1-bookworm"],
  [/^(?:node-test|vitest|jest|playwright)$|\b(?:node|npm|npx)\b|\.[cm]?js\b/, "node:22-bookworm"],
];

function imageFor(checks: readonly Check[]): string {
  const words = checks.flatMap(({ kind, command, script }) => [kind ?? "", command ?? "", script ?? ""]);
  return IMAGES.find(([signs]) => words.some((word) => signs.test(word)))?.[1] ?? "debian:bookworm";
}

function notCarried(
  { acceptance, credentials, harness }: Manifest,
  checks: readonly Check[],
  entries: HarborInput["entries"],
): { what: string; why: string }[] {
  const odd = checks.filter((check) => lineOf(check) === null);
  const rows: [boolean, string, string][] = [
    [
      true,
      "trials, controls and guards",
      "Harbor runs a check once, so a reward proves less than nutshell verify --rerun",
    ],
    [(acceptance?.checklist ?? []).length > 0, "the checklist", "it is told to the agent, and nobody judges it"],
    [(harness?.constraints ?? []).length > 0, "constraints", "they are told to the agent, and nothing enforces them"],
    [(acceptance?.install ?? []).length > 0, "what the checks need installed", "put it into environment/Dockerfile"],
    [credentials !== undefined, "credentials", "a task that is handed around holds no secrets"],
    [
      entries.some(({ path }) => path === "acceptance/hidden.age"),
      "hidden checks",
      "they are sealed for whoever verifies",
    ],
  ];
  return [
    ...odd.map(({ id, automatic, kind }) => ({
      what: `criterion ${id}`,
      why: automatic ? `a plain shell cannot run it (${kind ?? "unknown type"})` : "a person judges it",
    })),
    ...rows.flatMap(([holds, what, why]) => (holds ? [{ what, why }] : [])),
  ];
}
