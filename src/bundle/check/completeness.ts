// Whether a bundle holds what an agent needs, said in the order in which a person would fix it. Nothing here touches
// the disk: what to judge comes in as a `Content`, so a folder, a bundle and a test look the same.
import { type Finding, grouped, shellWord } from "../../errors.js";
import { foldersAbove, isText } from "../../files/index.js";
import { documentWords, holdsPlaceholder, isBlank, isPlaceholder } from "../manifest/template.js";
import { estimateTokens } from "../manifest/tokens.js";
import { checkAcceptance } from "./completeness-acceptance.js";
import { checkDelivery } from "./completeness-delivery.js";
import { checkInstall } from "./completeness-install.js";
import { checkApis, checkContext, checkCredentials, checkImages } from "./completeness-references.js";
import { contentFindings } from "./content-findings.js";
import { type CompletenessOptions, type Content, PLACEHOLDER, type Report } from "./report.js";
import { isoSeconds, schemaFix } from "./schema-fix.js";

export interface Passed {
  readonly path: string;
  readonly message: string;
}

export interface Completeness {
  readonly status: "draft" | "incomplete" | "ready";
  /** Fields or files without which an agent cannot start. */
  readonly missing: readonly string[];
  readonly warnings: readonly string[];
  readonly findings: readonly Finding[];
  readonly passed: readonly Passed[];
}

/** The window most models have; a hint of 0.35 then allows 70,000 tokens. */
export const DEFAULT_CONTEXT_WINDOW = 200_000;

/** Judges a bundle. Never throws over its content; only what cannot be read at all is an error. */
export async function assess(content: Content, options: CompletenessOptions): Promise<Completeness> {
  const findings: Finding[] = [];
  const passed: Passed[] = [];
  const suffix = options.dir === undefined ? "" : ` --dir ${shellWord(options.dir)}`;
  const folders = foldersAbove(content.files.keys());
  const report: Report = {
    content,
    folders,
    manifest: content.manifest,
    options,
    missing: (problem) => findings.push({ severity: "error", ...problem }),
    warn: (problem) => findings.push({ severity: "warning", ...problem }),
    // A script that a list and a criterion name is there once.
    pass: (path, message) => {
      if (!passed.some((one) => one.path === path && one.message === message)) passed.push({ path, message });
    },
    command: (words) => `nutshell ${words}${suffix}`,
    edit: (path) => editing(path, options.dir, folders),
  };
  if (content.manifest.bundle_type === "delivery") await checkDelivery(report);
  else await checkRequest(report);
  await checkPlaceholders(report);
  checkPasted(report);
  const errorPaths = findings.filter(({ severity }) => severity === "error").map(({ path }) => path);
  await checkValid(report, errorPaths);

  const errors = findings.filter(({ severity }) => severity === "error");
  const warnings = findings.filter(({ severity }) => severity === "warning");
  const missing = new Set(errors.map(({ path }) => path));
  const isDraft = errors.some(({ code }) => code === PLACEHOLDER);
  return {
    status: isDraft ? "draft" : errors.length > 0 ? "incomplete" : "ready",
    missing: [...missing],
    warnings: [...new Set(warnings.map(({ path, message }) => `${path}: ${message}`))],
    findings: [...errors, ...warnings],
    // A fact that is worth a warning is no good news, whatever else is filled in.
    passed: passed.filter(({ path }) => !findings.some((finding) => finding.path === path)),
  };
}

/** Editors do not make the folder of a new file. */
function editing(path: string, dir: string | undefined, folders: ReadonlySet<string>): string {
  const under = (name: string) => shellWord(dir === undefined ? name : `${dir}/${name}`);
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  const make = folder === "" || folders.has(folder) ? "" : `mkdir -p ${under(folder)} && `;
  return `${make}\${EDITOR:-vi} ${under(path)}`;
}

async function checkRequest(report: Report): Promise<void> {
  checkTask(report);
  checkDeadline(report);
  await checkContext(report);
  await checkApis(report);
  await checkCredentials(report);
  await checkAcceptance(report);
  await checkInstall(report);
  checkHarness(report);
  await checkBudget(report);
  checkSkills(report);
  await checkImages(report);
  checkTree(report);
}

function checkTask({ manifest, missing, pass, command }: Report): void {
  const { title = "", summary = "" } = manifest.task ?? {};
  const fixTitle = command('set task.title "<what to do, in one line>"');
  const fixSummary = command('set task.summary "<why, and what must be true at the end>"');
  if (isBlank(title)) {
    missing({ code: "TITLE_EMPTY", path: "task.title", message: "empty: nobody knows what to do", fix: fixTitle });
  } else if (isPlaceholder(title)) {
    missing({ code: PLACEHOLDER, path: "task.title", message: unfilled(title), fix: fixTitle });
  } else pass("task.title", JSON.stringify(title));
  if (isBlank(summary)) {
    missing({ code: "SUMMARY_EMPTY", path: "task.summary", message: "empty: say what done means", fix: fixSummary });
  } else if (isPlaceholder(summary)) {
    missing({ code: PLACEHOLDER, path: "task.summary", message: unfilled(summary), fix: fixSummary });
  } else pass("task.summary", "provided");
}

const unfilled = (text: string): string => {
  if (/^[<[]/.test(text.trim())) return `${text.trim()} is a place to fill in`;
  return text.trim().startsWith("(") ? "still the text init put there" : `${text.trim()} says nothing yet`;
};

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

function checkDeadline({ manifest, options, missing, pass, command }: Report): void {
  const { expires_at: expiresAt } = manifest;
  if (expiresAt === undefined) return;
  const time = Date.parse(expiresAt);
  const fix = command(`set expires_at ${isoSeconds(options.now.getTime() + WEEK_MS)}`);
  if (Number.isNaN(time)) {
    missing({ code: "DATE_INVALID", path: "expires_at", message: `"${expiresAt}" is not a date`, fix });
  } else if (time <= options.now.getTime()) {
    missing({ code: "EXPIRED", path: "expires_at", message: `the deadline ${expiresAt} has passed`, fix });
  } else pass("expires_at", expiresAt);
}

/** Documents and scripts that nobody has filled in since `init` wrote them. */
async function checkPlaceholders({ content, manifest, missing, warn, edit }: Report): Promise<void> {
  const { requirements, architecture, references, additional = [] } = manifest.context ?? {};
  const documents: ReadonlySet<string | undefined> = new Set([requirements, architecture, references]);
  const scripts = [...content.files.keys()].filter((path) => path.startsWith("tests/"));
  const { test_scripts: named = [] } = manifest.acceptance ?? {};
  for (const path of new Set([requirements, architecture, references, ...additional, ...named, ...scripts])) {
    if (path === undefined || (content.files.get(path) ?? Infinity) > LARGEST_OUTLINE) continue;
    const text = Buffer.from(await content.read(path)).toString("utf8");
    if (holdsPlaceholder(text))
      missing({ code: PLACEHOLDER, path, message: "still an outline to fill in", fix: edit(path) });
    // That a file is empty is told where it is named.
    else if (documents.has(path) && text !== "" && /\.(?:md|markdown)$/i.test(path)) {
      const says = documentWords(text);
      if (says === "promises") missing({ code: PLACEHOLDER, path, message: "says nothing yet", fix: edit(path) });
      else if (says !== "something")
        warn({
          code: "FILE_EMPTY",
          path,
          message: says === "nothing" ? "is empty" : "holds headings alone",
          fix: edit(path),
        });
    }
  }
}

/** Whoever wrote more than this has filled it in. */
const LARGEST_OUTLINE = 64 * 1024;

/** The fixes we print have places to fill in; pasted as they are, they fill in nothing. */
function checkPasted({ manifest, missing, warn, command }: Report): void {
  const lists: readonly (readonly [string, readonly string[] | undefined])[] = [
    ["acceptance.checklist", manifest.acceptance?.checklist],
    ["harness.constraints", manifest.harness?.constraints],
    ["tags.skills_required", manifest.tags?.skills_required],
  ];
  for (const [path, items = []] of lists) {
    const isUnsaid = (item: string) => isPlaceholder(item) || isBlank(item);
    const place = items.findIndex(isPlaceholder);
    const index = place >= 0 ? place : items.findIndex(isBlank);
    if (index < 0) continue;
    const fix = command(`set ${items.every(isUnsaid) ? path : `${path}.${index}`} --unset`);
    const item = items[index]!;
    if (isBlank(item)) warn({ code: "ITEM_EMPTY", path, message: `item ${index + 1} is empty`, fix });
    else missing({ code: PLACEHOLDER, path, message: unfilled(item), fix });
  }
}

/** What `validate` says, where nothing better was said already. */
async function checkValid(report: Report, known: readonly string[]): Promise<void> {
  const { content, missing, warn } = report;
  for (const { code, path, message, severity } of await contentFindings(content)) {
    if (known.some((field) => path === field || path.startsWith(`${field}.`))) continue;
    if (severity !== "error" && code !== "MANIFEST_INVALID") continue;
    const words = message.slice(message.indexOf(": ") + 2);
    const fix = schemaFix(report, path, words);
    (severity === "error" ? missing : warn)({ code, path, message: words, fix });
  }
}

function checkHarness({ manifest, warn, pass, command }: Report): void {
  const constraints = manifest.harness?.constraints ?? [];
  if (constraints.length > 0) {
    pass("harness.constraints", constraints.length === 1 ? "1 rule" : `${constraints.length} rules`);
    return;
  }
  warn({
    code: "NO_CONSTRAINTS",
    path: "harness.constraints",
    message: "empty: the agent has no guardrails",
    fix: command('set harness.constraints "<what must not be touched>" --append'),
  });
}

function checkSkills({ manifest, warn, pass, command }: Report): void {
  const skills = manifest.tags?.skills_required ?? [];
  if (skills.length > 0) pass("tags.skills_required", skills.join(", "));
  else {
    warn({
      code: "NO_SKILLS",
      path: "tags.skills_required",
      message: "empty: nobody can tell whom this suits",
      fix: command('set tags.skills_required "<skill>,<skill>"'),
    });
  }
}

/** Everything an agent may read counts; secrets and old deliveries do not. */
async function checkBudget({ content, manifest, options, warn, pass, command }: Report): Promise<void> {
  const hint = manifest.harness?.context_budget_hint;
  if (hint === undefined) return;
  const window = options.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
  const tokens = options.contextTokens ?? (await contextTokens(content));
  const percent = Math.ceil((tokens / window) * 100);
  const fact = `about ${grouped(tokens)} tokens, ${percent} % of ${grouped(window)}`;
  if (tokens <= hint * window) pass("harness.context_budget_hint", `${fact} (hint: ${Math.round(hint * 100)} %)`);
  else {
    warn({
      code: "OVER_BUDGET",
      path: "harness.context_budget_hint",
      message: `${fact}, over the hint of ${Math.round(hint * 100)} %`,
      fix: tokens <= window ? command(`set harness.context_budget_hint ${Math.min(1, percent / 100)}`) : SPLIT(command),
    });
  }
}

const SPLIT = (command: (words: string) => string) => command("split -n 2");

/** Estimated tokens of what an agent may read. */
export async function contextTokens(content: Content): Promise<number> {
  let tokens = estimateTokens(JSON.stringify(content.manifest));
  for (const path of content.files.keys()) {
    if (/^(credentials|delivery)\//.test(path)) continue;
    const bytes = await content.read(path);
    if (isText(bytes)) tokens += estimateTokens(bytes);
  }
  return tokens;
}

/** In a folder the tree is only as fresh as the last pack, which rebuilds it. */
function checkTree({ content, manifest, warn, command }: Report): void {
  const rows = manifest.files?.tree ?? [];
  const staleRows = rows.filter(
    ({ path }) => path !== "nutshell.json" && !content.files.has(path.replace(/^\.\//, "")),
  );
  if (staleRows.length === 0) return;
  warn({
    code: "TREE_STALE",
    path: "files.tree",
    message: `lists ${staleRows.length === 1 ? `${staleRows[0]!.path}, which is` : `${staleRows.length} files that are`} not here`,
    fix: command("check --fix"),
  });
}
