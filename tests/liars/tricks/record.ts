// Long because: a table of forgeries reads best in one place.
// Family 5: the record. Deliveries that say more than was done.
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Content, forgeries, type Parcel, runs, type Trick } from "../table.js";
import { cannotRun, constrained, forPerson, guardAndCannotRun, guardOnly, polite } from "../worlds/judged.js";
import { nodeScript, summing } from "../worlds/node.js";
import { pythonScript } from "../worlds/python.js";
import { repoTests } from "../worlds/repository.js";

const broken = "export function total(prices) {\n  return 0; // later\n}\n";
const nothing = { "files/src/total.mjs": broken };
const honest = { "files/src/total.mjs": summing };
const noop = () => {};
const set = (fields: Record<string, unknown>) => (parcel: Parcel) => {
  Object.assign(parcel.result, fields);
  if ("status" in fields) parcel.manifest.status = fields.status;
};
type Results = { criteria: { id: string; status: string; log?: string }[]; checklist: Record<string, unknown>[] };
const results = ({ result }: Parcel) => result.acceptance_results as Results;
type Artifacts = Record<"files_created" | "files_modified" | "files_deleted", { path: string }[]>;
/** Less than completed is said, and the failure is not hidden. */
const saysLess = (status: string) => (parcel: Parcel) => {
  for (const answer of results(parcel).criteria) answer.status = "failed";
  set({ status, completion_percentage: status === "partial" ? 50 : 0 })(parcel);
};
const artifacts = ({ result }: Parcel) => result.artifacts as Artifacts;
const bring = (path: string, content: Content) => (parcel: Parcel) => {
  parcel.files[path] = content;
};
const answered = (answer: Record<string, unknown>) => (parcel: Parcel) => {
  results(parcel).checklist = [{ item: "The greeting is polite", status: "passed", ...answer }];
};
const ZEROS = `sha256:${"0".repeat(64)}`;

/** Bytecode Python loads without looking at the source. */
function uncheckedBytecode(): { name: string; bytes: string } {
  const program =
    "import importlib.util, marshal, sys, base64\ncode = compile('def total(prices):\\n    return sum(prices)\\n', 'calc.py', 'exec')\nprint('calc.' + sys.implementation.cache_tag + '.pyc')\nprint(base64.b64encode(importlib.util.MAGIC_NUMBER + (1).to_bytes(4, 'little') + bytes(8) + marshal.dumps(code)).decode())";
  const [name, bytes] = execFileSync("python3", ["-c", program], { encoding: "utf8" }).trim().split("\n");
  return { name: name!, bytes: bytes! };
}

/** Nothing was run again: what the bundle says is all there is. */
const SAID: readonly Trick[] = [
  ...forgeries("record", nodeScript, [
    { id: "said-log", does: "brings a log file that says passed", lie: nothing, rerun: false, forge: noop },
    {
      id: "said-no-digests",
      does: "leaves the digests out",
      lie: nothing,
      rerun: false,
      forge: ({ result }) => void delete result.digests,
    },
    {
      id: "said-own-result-as-log",
      does: "names its own result as the log",
      lie: nothing,
      rerun: false,
      forge: (parcel) => {
        results(parcel).criteria[0]!.log = "delivery/result.json";
      },
    },
    {
      id: "said-no-logs",
      does: "brings no log at all",
      lie: nothing,
      rerun: false,
      forge: (parcel) => {
        for (const path of Object.keys(parcel.files)) if (path.includes("/logs/")) delete parcel.files[path];
      },
    },
    {
      id: "said-zero-digests",
      does: "brings digests of nothing",
      lie: nothing,
      rerun: false,
      forge: set({ digests: { request: ZEROS, result: ZEROS, tests: ZEROS } }),
    },
    {
      id: "replay",
      does: "replays the record of another delivery over this work",
      lie: nothing,
      rerun: false,
      forge: (parcel) => {
        parcel.result.digests = {};
        parcel.result.completed_at = "2026-01-01T00:00:00Z";
      },
    },
    {
      id: "said-honest",
      does: "is honest work whose record nobody ran or signed",
      lie: honest,
      rerun: false,
      forge: noop,
    },
    {
      id: "said-tests-in-artifacts",
      does: "brings its own tests and a record of them",
      lie: { ...nothing, "tests/total.mjs": "export {};\n" },
      rerun: false,
      forge: noop,
    },
  ]),
  ...forgeries("record", repoTests, [
    {
      id: "said-repository",
      does: "brings a log for work in a repository nobody has looked at",
      lie: { "src/total.mjs": broken },
      rerun: false,
      forge: noop,
    },
  ]),
];

const RERUN: readonly Trick[] = [
  ...forgeries("record", nodeScript, [
    {
      id: "partial-but-failed",
      does: "calls a failed delivery partial",
      lie: nothing,
      rerun: true,
      forge: saysLess("partial"),
    },
    {
      id: "failed-said-so",
      does: "says failed, so that nothing is held against it",
      lie: nothing,
      rerun: true,
      forge: saysLess("failed"),
    },
    {
      id: "blocked-said-so",
      does: "says blocked, with broken work in it",
      lie: nothing,
      rerun: true,
      forge: saysLess("blocked"),
    },
    {
      id: "criteria-left-out",
      does: "answers no criterion at all and says partial",
      lie: nothing,
      rerun: true,
      forge: (parcel) => {
        results(parcel).criteria = [];
        set({ status: "partial" })(parcel);
      },
    },
    {
      id: "empty-delivery",
      does: "delivers nothing and says partial",
      lie: {},
      rerun: true,
      forge: set({ status: "partial" }),
    },
    {
      id: "unlisted-artifact",
      does: "brings a file that no list names",
      lie: honest,
      rerun: true,
      forge: bring("delivery/artifacts/files/src/extra.mjs", "process.exit(1);\n"),
    },
    {
      id: "unlisted-over-listed",
      does: "brings another program that no list names",
      lie: honest,
      rerun: true,
      forge: bring("delivery/artifacts/files/bin/postinstall.sh", { run: "#!/bin/sh\nrm -rf /\n" }),
    },
    {
      id: "relocated-twin",
      does: "brings the file twice, with and without files/, one right and one wrong",
      lie: honest,
      rerun: true,
      forge: (parcel) => {
        parcel.files["delivery/artifacts/src/total.mjs"] = summing;
        parcel.files["delivery/artifacts/files/src/total.mjs"] = broken;
        artifacts(parcel).files_modified = [{ path: "delivery/artifacts/src/total.mjs" }];
      },
    },
    {
      id: "relocated-extra",
      does: "delivers at one path what is tested at another",
      lie: honest,
      rerun: true,
      forge: (parcel) => {
        delete parcel.files["delivery/artifacts/files/src/total.mjs"];
        parcel.files["delivery/artifacts/src/total.mjs"] = summing;
        parcel.files["delivery/artifacts/src/new.mjs"] = "export {};\n";
        artifacts(parcel).files_modified = [{ path: "delivery/artifacts/src/total.mjs" }];
        artifacts(parcel).files_created = [{ path: "delivery/artifacts/src/new.mjs" }];
      },
    },
    {
      id: "leftover-outside-digests",
      does: "brings node_modules that no digest covers",
      lie: honest,
      rerun: true,
      forge: bring("delivery/artifacts/files/node_modules/x/index.js", "module.exports = 1;\n"),
    },
    {
      id: "request-of-its-own",
      does: "brings criteria of its own in the delivery's manifest and tests",
      lie: nothing,
      rerun: true,
      forge: ({ manifest, files }) => {
        manifest.acceptance = { criteria_file: "tests/criteria.json" };
        files["tests/criteria.json"] = '{"criteria":[{"id":"AC-1","type":"shell","command":"true"}]}\n';
      },
    },
    {
      id: "criteria-in-artifacts",
      does: "delivers other criteria as an artifact",
      lie: {
        ...nothing,
        "tests/criteria.json": '{"criteria":[{"id":"AC-1","type":"shell","command":"test -f files/src/total.mjs"}]}\n',
      },
      rerun: true,
      forge: noop,
    },
    {
      id: "manifest-in-artifacts",
      does: "delivers another request manifest as an artifact",
      lie: {
        ...nothing,
        "nutshell.json":
          '{"nutshell_version":"0.2.0","bundle_type":"request","id":"nut-0f000000-0000-4000-8000-00000000000a","task":{"title":"x","summary":"y"},"acceptance":{}}\n',
      },
      rerun: true,
      forge: noop,
    },
    {
      id: "tests-deleted",
      does: "deletes the tests",
      lie: { ...nothing, "tests/total.mjs": null },
      rerun: true,
      forge: noop,
    },
    {
      id: "duplicate-answer",
      does: "answers a criterion twice",
      lie: nothing,
      rerun: true,
      forge: (parcel) => {
        results(parcel).criteria.push({ id: "AC-1", status: "failed" });
      },
    },
    {
      id: "answers-twice",
      does: "says of one point first that it passed and then that it failed",
      lie: nothing,
      rerun: false,
      forge: (parcel) => void results(parcel).criteria.push({ ...results(parcel).criteria[0]!, status: "failed" }),
    },
    {
      id: "wrong-request-digest",
      does: "answers another version of the request",
      lie: honest,
      rerun: true,
      forge: ({ result }) => {
        result.digests = { ...(result.digests as object), request: ZEROS };
      },
    },
    {
      id: "listed-but-absent",
      does: "lists a file it does not bring",
      lie: honest,
      rerun: true,
      forge: (parcel) => void artifacts(parcel).files_created.push({ path: "delivery/artifacts/files/more.mjs" }),
    },
    {
      id: "deleted-outside",
      does: "deletes something outside the tree",
      lie: honest,
      rerun: true,
      forge: (parcel) => void artifacts(parcel).files_deleted.push({ path: "../../etc/passwd" }),
    },
  ]),
  ...forgeries("record", pythonScript, [
    {
      id: "bytecode-unlisted",
      does: "brings bytecode that is loaded instead of the broken source",
      lie: { "files/src/calc.py": "def total(prices):\n    return 0 # later\n" },
      rerun: true,
      forge: ({ files }) => {
        const { name, bytes } = uncheckedBytecode();
        files[`delivery/artifacts/files/src/__pycache__/${name}`] = { bytes };
      },
    },
    {
      id: "bytecode-listed",
      does: "lists bytecode that is loaded instead of the broken source",
      lie: { "files/src/calc.py": "def total(prices):\n    return 0 # later\n" },
      rerun: true,
      forge: (parcel) => {
        const { name, bytes } = uncheckedBytecode();
        const path = `delivery/artifacts/files/src/__pycache__/${name}`;
        parcel.files[path] = { bytes };
        artifacts(parcel).files_created.push({ path });
      },
    },
  ]),
  ...forgeries("record", forPerson, [
    { id: "person-forged", does: "says that a criterion for a person passed", lie: honest, rerun: true, forge: noop },
    {
      id: "person-judged",
      does: "says that somebody judged the criterion for a person",
      lie: honest,
      rerun: true,
      forge: (parcel) => {
        Object.assign(results(parcel).criteria[1]!, { evidence: "judged", note: "the names are good" });
      },
    },
  ]),
  ...forgeries("record", cannotRun, [
    {
      id: "skipped-forged",
      does: "says that what cannot be run here passed elsewhere",
      lie: honest,
      rerun: true,
      forge: noop,
    },
  ]),
  ...forgeries("record", guardAndCannotRun, [
    {
      id: "skipped-carries",
      does: "has nothing to show but a guard and what cannot be run here",
      lie: { "files/src/total.mjs": broken },
      rerun: true,
      forge: noop,
    },
  ]),
  ...forgeries("record", guardOnly, [
    {
      id: "guards-only",
      does: "proves nothing but what was true before",
      lie: { "files/src/total.mjs": broken },
      rerun: true,
      forge: noop,
    },
    { id: "guards-nothing-done", does: "changes nothing and says completed", lie: {}, rerun: true, forge: noop },
  ]),
  ...forgeries("record", constrained, [
    {
      id: "constraint-broken",
      does: "changes a file the constraints forbid",
      lie: { ...honest, "files/prices.txt": "9\n" },
      rerun: true,
      forge: noop,
    },
    {
      id: "constraint-broken-new",
      does: "adds a file the constraints forbid",
      lie: { ...honest, "files/install.sh": "rm -rf x\n" },
      rerun: true,
      forge: noop,
    },
  ]),
  ...forgeries("record", polite, [
    {
      id: "checklist-left-out",
      does: "leaves the checklist out",
      lie: { "files/hello.txt": "hello, you fool\n" },
      rerun: true,
      forge: (parcel) => {
        results(parcel).checklist = [];
      },
    },
    {
      id: "checklist-said",
      does: "says that a line of the checklist holds",
      lie: { "files/hello.txt": "hello, you fool\n" },
      rerun: true,
      forge: answered({ evidence: "said" }),
    },
    {
      id: "checklist-proven",
      does: "calls a line of the checklist proven",
      lie: { "files/hello.txt": "hello, you fool\n" },
      rerun: true,
      forge: answered({ evidence: "proven" }),
    },
    {
      id: "checklist-no-evidence",
      does: "names evidence that does not exist",
      lie: { "files/hello.txt": "hello, you fool\n" },
      rerun: true,
      forge: answered({
        evidence: "judged",
        note: 'files/nowhere.txt:3 holds "please"',
      }),
    },
    {
      id: "checklist-twice",
      does: "answers a point of the checklist twice, the better answer first",
      lie: { "files/hello.txt": "hello, you fool\n" },
      rerun: true,
      forge: (parcel) => {
        const [first] = results(parcel).checklist;
        results(parcel).checklist = [first!, { ...first, status: "failed", note: "it is rude" }];
      },
    },
    {
      id: "checklist-forged",
      undecidable: "who judged is only said in an unsigned delivery",
      does: "invents a reviewer's judgement",
      lie: { "files/hello.txt": "hello, you fool\n" },
      rerun: true,
      forge: noop,
    },
  ]),
];

const journal = (folder: string, edit: (lines: string[]) => string[]) => {
  const path = join(folder, "journal.jsonl");
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  writeFileSync(path, `${edit(lines).join("\n")}\n`);
};
const typeOf = (line: string) => (JSON.parse(line) as { type: string }).type;
const reopened = (lines: string[]) => lines.filter((line) => !["delivered", "closed"].includes(typeOf(line)));
const rosy = (line: string) =>
  typeOf(line) === "accepted"
    ? line
        .replaceAll('"failed","evidence"', '"passed","evidence"')
        .replace('"verdict":"failed"', '"verdict":"passed"')
        .replace('"verdict":"incomplete"', '"verdict":"passed"')
        .replace('"proven":0', '"proven":1')
        .replace('"failed":1', '"failed":0')
        .replace('"passed":0', '"passed":1')
        .replaceAll(/"reason":"[^"]*",/g, "")
    : line;

const RESUMED: readonly Trick[] = runs("record", nodeScript, [
  {
    id: "resume-forged-acceptance",
    does: "writes a passed acceptance into the journal of a failed run and resumes it",
    lie: nothing,
    cast: { engineer: "work" },
    plan: { goal: "x", tasks: [{ title: "Work", owner: "engineer", files: ["files/"], criteria: [] }] },
    tamper: (folder) => journal(folder, (lines) => reopened(lines).map(rosy)),
  },
  {
    id: "resume-changed-tree",
    does: "breaks every copy of the tree after the acceptance was recorded and resumes",
    lie: honest,
    // Whoever works again would put it right again.
    cast: { engineer: 'case "$PROMPT" in *"acceptance found"*) ;; *) work ;; esac' },
    tamper: (folder) => {
      journal(folder, reopened);
      // What is merely broken in the work tree is put back; so the copies it is put back from are broken, too.
      for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        const file = join(folder, path);
        if (lstatSync(file).isFile() && readFileSync(file, "utf8") === summing) {
          chmodSync(file, 0o644);
          writeFileSync(file, broken);
        }
      }
    },
  },
  {
    id: "resume-changed-tests",
    does: "empties the kept request's tests and resumes before the acceptance",
    lie: nothing,
    cast: { engineer: "work" },
    plan: { goal: "x", tasks: [{ title: "Work", owner: "engineer", files: ["files/"], criteria: [] }] },
    tamper: (folder) => {
      journal(folder, (lines) => reopened(lines).filter((line) => typeOf(line) !== "accepted"));
      writeFileSync(join(folder, "request/tests/total.mjs"), "export {};\n");
    },
  },
]);

export const RECORD: readonly Trick[] = [...SAID, ...RERUN, ...RESUMED];
