// How the documents are run. In README.md and docs/, a block fenced as `console` is a terminal:
//   $ command             run by bash in a fresh folder that holds examples/; one folder per document
//   $ command  # exit 1   the exit status it must have, when it is not 0
//   lines below           what it prints, stdout and stderr as they come; none: the output is not shown
//   …                     any text inside a line; alone on a line: any number of lines
//   ~                     the folder, and the home of whoever works there
//   <registry>            a registry on this machine
//   <fleet>               a NATS server on this machine
//   <id>                  the market task published last; `console worker` runs at the other node of the network
// `<!-- $ command -->` runs without being shown. UPDATE_DOCS=1 writes what was really printed into the documents.
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Program } from "../../src/cli/command.js";
import { main } from "../../src/cli/main.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";
import { plainPytest } from "../acceptance/plain-pytest.js";
import { type NatsServer, startNats } from "../fleet/nats.js";
import { type Double, startDouble } from "../market/double.js";
import { startDouble as startRegistry } from "../registry/double.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Step {
  readonly command: string;
  readonly exit: number;
  readonly output: readonly string[];
  readonly worker: boolean;
  /** Lines of the document its output takes, counted from 0; empty for a hidden command. */
  readonly from: number;
  readonly to: number;
}

export function steps(document: string): Step[] {
  const found: Step[] = [];
  const lines = document.split("\n");
  let fence: string | null = null;
  let open: { command: string; from: number } | null = null;
  const close = (end: number) => {
    if (open === null) return;
    const to = trimEnd(lines, open.from, end);
    const exit = Number(/\s# exit (\d+)$/.exec(open.command)?.[1] ?? 0);
    const command = open.command.replace(/\s+# exit \d+$/, "");
    found.push({
      command,
      exit,
      output: lines.slice(open.from, to),
      worker: fence === "console worker",
      from: open.from,
      to,
    });
    open = null;
  };
  for (const [index, line] of lines.entries()) {
    const mark = /^```(.*)$/.exec(line)?.[1];
    const hidden = /^<!-- \$ (.+) -->$/.exec(line)?.[1];
    if (mark !== undefined) {
      close(index);
      fence = fence === null ? mark : null;
    } else if (fence === null && hidden !== undefined) {
      found.push({ command: hidden, exit: 0, output: [], worker: false, from: index, to: index });
    } else if (fence?.startsWith("console") && line.startsWith("$ ")) {
      close(index);
      open = { command: line.slice(2), from: index + 1 };
    }
  }
  return found;
}

function trimEnd(lines: readonly string[], from: number, to: number): number {
  return to > from && lines[to - 1] === "" ? trimEnd(lines, from, to - 1) : to;
}

export function matches(expected: readonly string[], actual: string): boolean {
  const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "[^\\n]*");
  const body = expected.map((line) => (line === "…" ? "(?:[^\\n]*\\n)*" : `${escaped(line)}\\n`)).join("");
  return new RegExp(`^${body}$`).test(actual.endsWith("\n") ? actual : `${actual}\n`);
}

/** What differs from run to run, as `…`, for output that is written into a document. */
export function settled(text: string): string[] {
  return text
    .replace(/\n+$/, "")
    .replaceAll(/(?<!Content: {2})sha256:[0-9a-f]{64}/g, "sha256:…")
    .replaceAll(/\b\d{8}-\d{6}-[0-9a-f]{4}\b/g, "…")
    .replaceAll(/\bnut-[0-9a-f]{8}-[0-9a-f-]{27}\b/g, (id) => (id.startsWith("nut-00000000-") ? id : "nut-…"))
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => (time.startsWith("2026-03-14") ? time : "…"))
    .replaceAll(/'\S*node' '\S+'/g, "…")
    .replaceAll(/SHA256:[\w+/]{43}/g, "SHA256:…")
    .replaceAll(/12D3KooW\w+/g, "12D3KooW…")
    .replaceAll(/\bage1[0-9a-z]{58}\b/g, "age1…")
    .split("\n")
    .map((line) => line.trimEnd());
}

export interface Outcome {
  readonly step: Step;
  readonly printed: string;
  readonly status: number | null;
}

/** Runs a document's commands in order, in a folder of its own; a command that fails as it should not ends it. */
export async function runDocument(all: readonly Step[]): Promise<Outcome[]> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "nut-docs-")));
  const work = join(place, "work");
  mkdirSync(join(place, "home"));
  cpSync(join(root, "examples"), join(work, "examples"), { recursive: true });
  const usesMarket = all.some(({ command }) => MARKET.test(command));
  const double = usesMarket ? await startDouble() : null;
  const registry = all.some(({ command }) => command.includes("<registry>")) ? await startRegistry() : null;
  const fleet: NatsServer | null = all.some(({ command }) => command.includes("<fleet>"))
    ? await startNats(join(place, "nats"))
    : null;
  // What `nexus import exercism` makes of an exercise is run by pytest.
  const first = all.some(({ command }) => command.includes("pytest") || command.includes("exercism"))
    ? plainPytest()
    : [];
  try {
    writePrograms(join(place, "bin"), double);
    const outcomes: Outcome[] = [];
    for (const step of all) {
      const id = step.command.includes("<id>") ? await lastTask(double) : "";
      const market = double?.nodes.map(({ url }) => url) ?? [];
      const stands = { first, market, registry: registry?.host ?? "", fleet: fleet?.url ?? "" };
      const outcome = await run(step, { place, work, id, ...stands });
      outcomes.push(outcome);
      if (outcome.status !== step.exit) break;
    }
    return outcomes;
  } finally {
    await double?.stop();
    await registry?.stop();
    await fleet?.kill();
    rmSync(place, { recursive: true, force: true });
  }
}

const TASK_ID = /(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const MARKET =
  /^nutshell (publish|claim|deliver|receive|tasks|bids?|assign|approve|reject|cancel|balance|profile)\b(?!.*--help)/;

/** nutshell and nexus as they are installed; market commands are led to the stand-in instead of port 3998. */
function writePrograms(bin: string, double: Double | null): void {
  mkdirSync(bin);
  for (const name of ["nutshell", "nexus"]) {
    const start = `exec "${process.execPath}" "${join(root, "bin", `${name}.js`)}" "$@"`;
    const market = `case "$1" in ${MARKET.source.replace(/^.*?\(|\).*$/g, "").replace("bids?", "bid|bids")})
      if [ -n "$DOCS_WORKER" ]; then set -- "$@" --clawnet ${double?.nodes[1]?.url}; else set -- "$@" --clawnet ${double?.nodes[0]?.url}; fi;; esac`;
    const lines = ["#!/bin/sh", ...(name === "nutshell" && double !== null ? [market] : []), start, ""];
    writeFileSync(join(bin, name), lines.join("\n"), { mode: 0o755 });
  }
  for (const [index, node] of double?.nodes.entries() ?? []) {
    const data = join(bin, `../clawnet-${index}`);
    mkdirSync(data);
    writeFileSync(join(data, "identity.key"), Buffer.from(node.seed + node.publicKey, "hex"), { mode: 0o600 });
  }
}

async function lastTask(double: Double | null): Promise<string> {
  const answer = await fetch(`${double?.nodes[0]?.url}/api/tasks`, { headers: { connection: "close" } });
  const tasks = (await answer.json()) as { id: string; created_at: string }[];
  return tasks.sort((a, b) => a.created_at.localeCompare(b.created_at)).at(-1)?.id ?? "";
}

interface Place {
  readonly place: string;
  readonly work: string;
  readonly id: string;
  /** Folders before those of PATH. */
  readonly first: readonly string[];
  readonly market: readonly string[];
  readonly registry: string;
  readonly fleet: string;
}

interface Around {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Printed {
  readonly text: string;
  readonly status: number | null;
}

async function run(step: Step, { place, work, id, first, market, registry, fleet }: Place): Promise<Outcome> {
  const command = step.command.replaceAll("<id>", id).replaceAll("<registry>", registry).replaceAll("<fleet>", fleet);
  const env = {
    PATH: [join(place, "bin"), ...first, process.env.PATH].join(":"),
    HOME: join(place, "home"),
    TMPDIR: place,
    LANG: "C.UTF-8",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    CLAWNET_DATA_DIR: join(place, `clawnet-${step.worker ? 1 : 0}`),
    ...(step.worker ? { DOCS_WORKER: "1" } : {}),
  };
  const words = plainWords(command, market[step.worker ? 1 : 0]);
  const { text, status } = await (words === null
    ? inShell(command, { cwd: work, env })
    : inHere(words, { cwd: work, env }));
  const plain = text.replaceAll(work, "~").replaceAll(join(place, "home"), "~").replaceAll(place, "…");
  const stands = [
    [registry, "<registry>"],
    [fleet.replace("nats://", ""), "<fleet>"],
    // Nobody who reads this typed the stand-in's address, so the next lines do not repeat it either.
    ...market.map((url) => [` --clawnet ${url}`, ""]),
  ].filter(([address]) => address !== "");
  const named = stands.reduce((shown, [address, word]) => shown.replaceAll(address!, word!), plain);
  return { step, status, printed: named.replaceAll(TASK_ID, "<id>") };
}

function inShell(command: string, { cwd, env }: Around): Promise<Printed> {
  const child: ChildProcess = spawn("bash", ["-c", `exec 2>&1\n${command}`], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 60_000,
    env,
  });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return new Promise((done) => {
    child.once("close", (status) => done({ text, status }));
  });
}

const HERE: Readonly<Record<string, Program>> = { nutshell, nexus };

/**
 * The words of a line that is one command of ours and needs no shell; null for any other. Pages and servers are started
 * as a person starts them, and so are the runs that a line begins in another folder. Market commands are led to the stand-in, as the programs of `writePrograms` do.
 */
function plainWords(line: string, market = ""): string[] | null {
  const [program, command = "", second] = line.split(" ");
  if (HERE[program!] === undefined || ["serve", "view", "mcp"].includes(command)) return null;
  if (command === "fleet" && second === "work") return null;
  const words = [...line.matchAll(/(?:'[^']*'|"[^"$`\\]*"|[^\s'"|&;<>()$`*?~#{}\\])+/g)].map(([word]) => word);
  if (words.join(" ") !== line) return null;
  const plain = words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double));
  return MARKET.test(line) ? [...plain, "--clawnet", market] : plain;
}

/** The command in this process: it starts in no time, and prints the same. */
async function inHere([program, ...argv]: readonly string[], { cwd, env }: Around): Promise<Printed> {
  let text = "";
  const sink = () =>
    new Writable({
      write(chunk, _, done) {
        text += chunk;
        done();
      },
    });
  const status = await main(HERE[program!]!, argv, {
    cwd,
    env,
    now: () => new Date(),
    signal: AbortSignal.timeout(60_000),
    stdin: () => Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    ask: null,
  });
  return { text, status };
}

export function rewrite(path: string, outcomes: readonly Outcome[]): void {
  const lines = readFileSync(path, "utf8").split("\n");
  for (const { step, printed } of [...outcomes].reverse()) {
    const shown = step.to > step.from;
    if (!shown || matches(step.output, printed)) continue;
    lines.splice(step.from, step.to - step.from, ...settled(printed));
  }
  writeFileSync(path, lines.join("\n"));
}
