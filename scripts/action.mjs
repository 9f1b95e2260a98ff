// What the GitHub Action runs: check, validate and verify, told as a job summary, annotations and outputs. Everything
// comes from the environment, so nothing a pull request names is ever part of a command line.
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const NUTSHELL = fileURLToPath(new URL("../bin/nutshell.js", import.meta.url));
const { env } = process;
const cwd = env.GITHUB_WORKSPACE ?? process.cwd();
const patterns = (env.NUTCRACKER_PATH ?? "").split("\n").flatMap((line) => line.trim() || []);
const request = env.NUTCRACKER_REQUEST?.trim() || null;
const rerun = (env.NUTCRACKER_RERUN ?? "true") === "true" && request !== null;
const identity = env.NUTCRACKER_IDENTITY?.trim() || null;
const base = env.NUTCRACKER_BASE?.trim() || null;
const install = env.NUTCRACKER_INSTALL === "true";
const signers = env.NUTCRACKER_SIGNERS?.trim() || null;
const policy = env.NUTCRACKER_POLICY?.trim() || null;
const required = (env.NUTCRACKER_REQUIRE ?? "").split("\n").flatMap((line) => line.trim() || []);
const junit = env.NUTCRACKER_JUNIT?.trim() || null;

/**
 * A path as it is, or everything that fits: * and ? within a name, ** over any folders. Hidden ones only when named. A file that bears
 * a pattern's own name fits it, and keeps nothing else from being judged.
 */
function expand(pattern) {
  if (!/[*?]/.test(pattern)) return [pattern];
  const found = matching("", pattern.replace(/^\.\//, "").split("/"));
  return found.length === 0 ? [pattern] : [...new Set(found)].sort();
}

function matching(folder, [step, ...rest]) {
  if (step === undefined) return folder === "" ? [] : [folder];
  const below = (name) => (folder === "" ? name : `${folder}/${name}`);
  if (!/[*?]/.test(step)) return existsSync(resolve(cwd, below(step))) ? matching(below(step), rest) : [];
  const items = listed(folder);
  if (step === "**") {
    const folders = items.filter((item) => item.isDirectory() && !SKIPPED.has(item.name) && !item.name.startsWith("."));
    return [...matching(folder, rest), ...folders.flatMap(({ name }) => matching(below(name), [step, ...rest]))];
  }
  const escaped = step
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]");
  const fits = new RegExp(`^${escaped}$`, "u");
  const names = items
    .map(({ name }) => name)
    .filter((name) => fits.test(name) && (step.startsWith(".") || !name.startsWith(".")));
  return names.flatMap((name) => matching(below(name), rest));
}

const SKIPPED = new Set(["node_modules"]);

function listed(folder) {
  try {
    return readdirSync(resolve(cwd, folder), { withFileTypes: true });
  } catch {
    return []; // No folder, so nothing in it fits.
  }
}

const paths = [...new Set(patterns.flatMap(expand))];

/** One command's answer: 0 yes, 1 no, anything else could not. */
function ask(command, path, flags = []) {
  const args = [NUTSHELL, command, "--json", ...flags, "--", path];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    env: signers === null ? env : { ...env, NUTSHELL_ALLOWED_SIGNERS: resolve(cwd, signers) },
  });
  const parsed = status === 0 || status === 1 ? parse(stdout) : null;
  return {
    command,
    status,
    result: parsed,
    error: parsed === null ? (parse(stderr)?.error ?? { message: stderr }) : null,
  };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isDelivery(path) {
  try {
    const full = resolve(cwd, path);
    const manifest = statSync(full).isDirectory()
      ? JSON.parse(readFileSync(join(full, "nutshell.json"), "utf8"))
      : ask("inspect", path, ["--manifest"]).result?.manifest;
    return manifest?.bundle_type === "delivery";
  } catch {
    return false; // The commands themselves will say what is wrong with it.
  }
}

function judge(path) {
  const answers = [ask("validate", path), ask("check", path)];
  if (isDelivery(path)) {
    const flags = [
      ...(request === null ? [] : ["--request", request]),
      ...(rerun ? ["--rerun", "--yes"] : ["--allow", "recorded"]),
      ...(rerun && install ? ["--allow-install"] : []),
      ...(rerun && identity !== null ? ["--identity", identity] : []),
      ...(base === null ? [] : ["--base", base]),
      ...(policy === null ? [] : ["--policy", policy]),
      ...required.flatMap((name) => ["--require", `signer=${name}`]),
    ];
    answers.push(ask("verify", path, flags));
  }
  return { path, answers, ok: answers.every(({ status }) => status === 0) };
}

/** Text from a bundle is data: in a table cell it must stay text. */
function cell(text) {
  return String(text)
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .replace(/[\\`*_{}[\]<>()#+!|~&@:]/g, (character) => `&#${character.codePointAt(0)};`)
    .slice(0, 400);
}

const findingsOf = ({ result, error }) =>
  error === null ? (result.findings ?? []) : [{ severity: "error", path: "", message: error.message, fix: error.hint }];

const verdictOf = ({ command, status, result }) => {
  if (status !== 0 && status !== 1) return "could not look";
  if (command === "check") return result.status;
  if (command === "validate") return result.valid ? "valid" : "invalid";
  if (!result.verified) return "not verified";
  return result.allowed.length === 0
    ? `verified: ${result.status}`
    : `${result.status}, ${result.allowed.join(" and ")}`;
};

function summary(judged) {
  const lines = ["## Nutshell", "", "| bundle | question | answer |", "|---|---|---|"];
  for (const { path, answers } of judged) {
    for (const answer of answers) {
      const mark = answer.status === 0 ? "✅" : "❌";
      lines.push(`| ${cell(path)} | ${answer.command} | ${mark} ${cell(verdictOf(answer))} |`);
    }
  }
  const rows = judged.flatMap(({ path, answers }) =>
    answers.flatMap((answer) =>
      findingsOf(answer).map(
        ({ severity, path: where, message, fix }) =>
          `| ${severity} | ${cell(path)} | ${cell(where)} | ${cell(message)} | ${cell(fix ?? "")} |`,
      ),
    ),
  );
  if (rows.length > 0) {
    lines.push("", "| | bundle | where | what | what helps |", "|---|---|---|---|---|", ...new Set(rows.slice(0, 200)));
    if (rows.length > 200) lines.push("", `and ${rows.length - 200} more`);
  }
  const claims = judged.flatMap(({ answers }) => answers.flatMap(({ result }) => result?.claims ?? []));
  if (claims.length > 0) {
    lines.push("", "| claim | status | evidence |", "|---|---|---|");
    for (const { id, status, evidence } of claims) lines.push(`| ${cell(id)} | ${status} | ${evidence} |`);
  }
  return `${lines.join("\n")}\n`;
}

/** A workflow command's own escapes; a bundle must not be able to write one. */
const escaped = (text) =>
  String(text)
    .replaceAll("%", "%25")
    .replace(/[\p{Cc}\p{Cf}]/gu, encodeURIComponent);
const property = (text) => escaped(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
/** A line of the log. Runners look for `::` at its start, and for `##[` anywhere. */
const plain = (text) =>
  escaped(text)
    .replace(/^(\s*):/, "$1%3A")
    .replaceAll("##[", "%23%23[");

function annotate(judged) {
  for (const { path, answers } of judged) {
    for (const finding of answers.flatMap(findingsOf)) {
      if (finding.severity !== "error" && finding.severity !== "warning") continue;
      console.log(`::${finding.severity} file=${property(path)}::${escaped(finding.message)}`);
    }
  }
}

/** Text in XML: escaped, and without what XML cannot hold. */
const xml = (text) =>
  String(text)
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, " ")
    .replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);

/** One suite for a bundle: a case for each question, and one for each claim that was weighed. */
function report(judged) {
  const test = (suite, name, problem) =>
    problem === null
      ? `    <testcase classname="${xml(suite)}" name="${xml(name)}"/>`
      : `    <testcase classname="${xml(suite)}" name="${xml(name)}"><failure message="${xml(problem)}"/></testcase>`;
  const suites = judged.map(({ path, answers }) => {
    const cases = answers.flatMap((answer) => [
      { name: answer.command, problem: answer.status === 0 ? null : problemOf(answer) },
      ...(answer.result?.claims ?? []).map(({ id, status, evidence }) => ({
        name: `claim ${id}`,
        problem: status === "passed" && evidence !== "said" ? null : `${status}, ${evidence}`,
      })),
    ]);
    const failures = cases.filter(({ problem }) => problem !== null).length;
    const lines = cases.map(({ name, problem }) => test(path, name, problem));
    return [
      `  <testsuite name="${xml(path)}" tests="${cases.length}" failures="${failures}">`,
      ...lines,
      "  </testsuite>",
    ];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="nutshell">',
    ...suites.flat(),
    "</testsuites>",
    "",
  ].join("\n");
}

const problemOf = (answer) =>
  [
    verdictOf(answer),
    ...findingsOf(answer)
      .filter(({ severity }) => severity === "error")
      .map(({ message }) => message),
  ].join("; ");

if (paths.length === 0) {
  console.log("::error::the input path is empty: name a bundle or a task's folder");
  process.exit(2);
}
const judged = paths.map(judge);
const ok = judged.every((one) => one.ok);
annotate(judged);
for (const { path, answers } of judged)
  for (const answer of answers) console.log(plain(`${path}: ${answer.command}: ${verdictOf(answer)}`));
if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, summary(judged));
if (junit !== null) writeFileSync(resolve(cwd, junit), report(judged));
if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, `ok=${ok}\n`);
process.exitCode = ok
  ? 0
  : judged.some(({ answers }) => answers.some(({ status }) => status !== 0 && status !== 1))
    ? 2
    : 1;
