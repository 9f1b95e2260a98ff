// Records docs/demo.svg: runs the tour's first commands for real and draws what they print as a terminal that scrolls.
//   node scripts/record.mjs            writes docs/demo.svg
// The picture holds no script and no outside reference; with reduced motion it shows the last frame.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const COMMANDS = [
  "nutshell check examples/1-bug-fix",
  "nutshell pack --dir examples/1-bug-fix -o task.nut",
  "nexus run task.nut --driver demo -o done.nut",
  "nutshell verify done.nut --request task.nut --rerun",
];
const COLUMNS = 96;
const ROWS = 30;
const LINE = 18;
const SECONDS_PER_COMMAND = 1.6;
const SECONDS_PER_LINE = 0.12;
const SECONDS_AT_END = 4;

/** Every line of the session, with the moment it appears. */
function record() {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "nut-record-")));
  const work = join(place, "work");
  try {
    mkdirSync(join(place, "bin"));
    cpSync(join(root, "examples"), join(work, "examples"), { recursive: true });
    for (const name of ["nutshell", "nexus"]) {
      const start = `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin", `${name}.js`)}" "$@"\n`;
      writeFileSync(join(place, "bin", name), start, { mode: 0o755 });
    }
    const env = { PATH: `${join(place, "bin")}:${process.env.PATH}`, HOME: place, TMPDIR: place, LANG: "C.UTF-8" };
    const lines = [];
    let at = 0.5;
    for (const command of COMMANDS) {
      lines.push({ at, text: `$ ${command}`, kind: "command" });
      at += SECONDS_PER_COMMAND;
      const { stdout, status } = spawnSync("sh", ["-c", `${command} 2>&1`], { cwd: work, env, encoding: "utf8" });
      if (status !== 0) throw new Error(`${command} ended with ${status}\n${stdout}`);
      for (const text of steady(stdout, work).trimEnd().split("\n").flatMap(folded)) {
        lines.push({ at, text, kind: kindOf(text) });
        at += SECONDS_PER_LINE;
      }
      lines.push({ at, text: "", kind: "plain" });
    }
    return { lines, seconds: at + SECONDS_AT_END };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** What differs from run to run is left out, so that recording again changes the picture only when the product did. */
function steady(text, work) {
  return text
    .replaceAll(work, "~")
    .replaceAll(/\b\d{8}-\d{6}-[0-9a-f]{4}\b/g, "20260314-100000-3f2a")
    .replaceAll(/sha256:([0-9a-f]{12})[0-9a-f]{52}/g, "sha256:$1…")
    .replaceAll(/(Hash: +sha256:)[0-9a-f]{12}/g, "$1………")
    .replaceAll(/(Size: +)[\d.]+ KB \([\d.]+ KB before\)/g, "$12.5 KB");
}

function folded(line) {
  if ([...line].length <= COLUMNS) return [line];
  const space = line.lastIndexOf(" ", COLUMNS);
  const cut = space > COLUMNS / 2 ? space : COLUMNS;
  return [line.slice(0, cut), ...folded(`    ${line.slice(cut).trimStart()}`)];
}

function kindOf(text) {
  if (/^\s*✓|^Status: READY|^verified|^passed|^completed/.test(text)) return "good";
  if (/^\s*[✗!]/.test(text)) return "bad";
  return "plain";
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const percent = (part, whole) => `${((part / whole) * 100).toFixed(2)}%`;

/** One group that steps upwards while its lines appear: an animation of CSS alone. */
function draw({ lines, seconds }) {
  const width = 820;
  const height = ROWS * LINE + 56;
  const scrolls = lines
    .map(({ at }, index) => [at, Math.max(0, index + 1 - ROWS) * -LINE])
    .filter(([, y], index, all) => index === 0 || y !== all[index - 1][1]);
  const last = scrolls.at(-1)[1];
  const frames = scrolls.map(([at, y]) => `${percent(at, seconds)}{transform:translateY(${y}px)}`).join("");
  const rows = lines.map(({ at, text, kind }, index) => {
    if (text === "") return "";
    const style = `animation-delay:${at.toFixed(2)}s`;
    return `<text class="${kind}" style="${style}" y="${(index + 1) * LINE}">${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal: a task is checked, packed, carried out by agents in roles, and verified">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9;white-space:pre;animation:show .01s both}
.command{fill:#79c0ff;font-weight:600}.good{fill:#7ee787}.bad{fill:#ffa198}
@keyframes show{from{opacity:0}to{opacity:1}}
@keyframes scroll{0%{transform:translateY(0)}${frames}100%{transform:translateY(${last}px)}}
#screen{animation:scroll ${seconds.toFixed(2)}s step-end both}
@media (prefers-reduced-motion:reduce){text{animation:none}#screen{animation:none;transform:translateY(${last}px)}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="20" cy="18" r="5" fill="#484f58"/><circle cx="38" cy="18" r="5" fill="#484f58"/><circle cx="56" cy="18" r="5" fill="#484f58"/>
<svg x="16" y="36" width="${width - 32}" height="${ROWS * LINE + 8}" viewBox="0 4 ${width - 32} ${ROWS * LINE + 8}"><g id="screen">
${rows.filter((row) => row !== "").join("\n")}
</g></svg>
</svg>
`;
}

const target = process.argv[2] ?? join(root, "docs/demo.svg");
writeFileSync(target, draw(record()));
console.log(target);
