// Long because: one judgement, and the tables of what it says.
import { describe, expect, it } from "vitest";
import type { Manifest } from "../../schema/manifest.js";
import { newManifest, outline } from "../manifest/template.js";
import { assess } from "./completeness.js";
import type { CompletenessOptions, Content } from "./report.js";

const now = new Date("2026-03-14T10:00:00Z");
const id = "nut-00000000-0000-4000-8000-000000000001";

function content(manifest: Partial<Manifest>, files: Record<string, string> = {}, left: string[] = []): Content {
  return {
    manifest: { nutshell_version: "0.2.0", bundle_type: "request", id, ...manifest } as Manifest,
    files: new Map(Object.entries(files).map(([path, text]) => [path, Buffer.byteLength(text)])),
    left,
    read: async (path) => Buffer.from(files[path]!),
  };
}

const judge = (subject: Content, options: Partial<CompletenessOptions> = {}) => assess(subject, { now, ...options });
const task = { title: "Build it", summary: "All of it." };
const criteria = (...rows: object[]) => JSON.stringify({ criteria: rows });

const SCRIPT = { "check.sh": "test -s out.txt" };

/** What is wrong, as `severity CODE path`. */
async function wrong(manifest: Partial<Manifest>, files: Record<string, string> = {}, left: string[] = []) {
  const { findings } = await judge(content(manifest, { ...SCRIPT, ...files }, left));
  return findings.map(({ severity, code, path }) => `${severity} ${code} ${path}`);
}

const QUIET = {
  task,
  tags: { skills_required: ["ts"] },
  harness: { constraints: ["be kind"] },
  acceptance: { checklist: ["it works"], test_scripts: ["check.sh"] },
};

describe("assess", () => {
  it("says what the schema says, and which value was meant", async () => {
    const manifest = { ...QUIET, task: { ...task, priority: "High" }, harness: { context_budget_hint: 35 } };
    const { status, findings } = await judge(content(manifest as Partial<Manifest>, SCRIPT));
    expect(status).toBe("incomplete");
    expect(findings).toMatchObject([
      {
        path: "task.priority",
        message: "must be one of critical, high, medium, low",
        fix: "nutshell set task.priority high",
      },
      {
        path: "harness.context_budget_hint",
        message: "must be at most 1",
        fix: "nutshell set harness.context_budget_hint 0.35",
      },
      { severity: "warning" },
    ]);
  });

  it.each<[string, Partial<Manifest>, Record<string, string>, string]>([
    ["a title nobody can see", { task: { ...task, title: "\u200b \u2060" } }, {}, "error TITLE_EMPTY task.title"],
    ["a title that says nothing", { task: { ...task, title: "TODO" } }, {}, "error PLACEHOLDER task.title"],
    ["a summary that says nothing", { task: { ...task, summary: "tbd." } }, {}, "error PLACEHOLDER task.summary"],
    ["an empty rule", { harness: { constraints: ["a", " "] } }, {}, "warning ITEM_EMPTY harness.constraints"],
    [
      "an empty point",
      { acceptance: { ...QUIET.acceptance, checklist: [""] } },
      {},
      "warning ITEM_EMPTY acceptance.checklist",
    ],
    [
      "a folder for a document",
      { context: { requirements: "docs" } },
      { "docs/a.md": "a" },
      "warning REFERENCE_FOLDER context.requirements",
    ],
    [
      "a folder for a script",
      { acceptance: { ...QUIET.acceptance, test_scripts: ["docs"] } },
      { "docs/a.sh": "a" },
      "error REFERENCE_FOLDER acceptance.test_scripts",
    ],
    [
      "headings alone",
      { context: { requirements: "r.md" } },
      { "r.md": "# Requirements\n\n<!-- later\nmore -->\n## Scope\n" },
      "warning FILE_EMPTY r.md",
    ],
    ["a title in brackets", { task: { ...task, title: "[title here]" } }, {}, "error PLACEHOLDER task.title"],
    ["white space alone", { context: { requirements: "r.md" } }, { "r.md": " \n" }, "warning FILE_EMPTY r.md"],
    [
      "a document that only promises",
      { context: { requirements: "r.md" } },
      { "r.md": "# Requirements\n\nTODO:\n- tbd\nTODO: write this\n" },
      "error PLACEHOLDER r.md",
    ],
    ["an empty script", {}, { "check.sh": "" }, "error PLACEHOLDER check.sh"],
    ["a script that is a yes", {}, { "check.sh": "#!/bin/sh\nset -e\nexit 0\n" }, "warning TEST_UNDECIDED check.sh"],
    ["a script that is a no", {}, { "check.sh": "echo later >&2\nexit 1\n" }, "warning TEST_UNDECIDED check.sh"],
    ["criteria that name none", {}, { "tests/criteria.json": criteria() }, "warning NO_CRITERIA tests/criteria.json"],
    [
      "criteria that wait for nobody",
      {},
      { "tests/criteria.json": criteria({ id: "A", type: "shell", command: "ls out", after: ["B"] }) },
      "error CRITERIA_INVALID tests/criteria.json",
    ],
    [
      "a subject that is nothing",
      { acceptance: { ...QUIET.acceptance, subject: [] } },
      {},
      "error SUBJECT_EMPTY acceptance.subject",
    ],
    [
      "a subject that is elsewhere",
      { acceptance: { ...QUIET.acceptance, subject: ["src/", "../x"] } },
      {},
      "error REFERENCE_OUTSIDE acceptance.subject",
    ],
    ["a script of comments", {}, { "check.sh": "#!/bin/sh\n# checks it\n\n" }, "error PLACEHOLDER check.sh"],
    [
      "a criterion whose script is comments",
      {},
      {
        "tests/criteria.json": criteria({ id: "A", description: "a", type: "shell", script: "a.mjs" }),
        "a.mjs": "// a\n",
      },
      "error PLACEHOLDER a.mjs",
    ],
  ])("is not ready, or warns: %s", async (_, manifest, files, line) => {
    expect(await wrong({ ...QUIET, ...manifest }, files)).toEqual([line]);
  });

  it.each([
    ["TODO lists sort by date", "# Requirements\n\n#hashtags are kept\n", "#!/bin/sh\n# TODO: faster\ngrep -q a b\n"],
    ["Read a list", "# Requirements\n\nTODO: write the parser\n", "grep -q a b\n"],
    ["<title> of a page", "Fix it.", "import './a.mjs'\n"],
  ])("is ready: %s", async (title, requirements, script) => {
    const manifest = { ...QUIET, task: { ...task, title }, context: { requirements: "r.md" } };
    expect(await wrong(manifest, { "r.md": requirements, "check.sh": script })).toEqual([]);
  });

  it("warns of a checklist without tests, whatever else is filled in", async () => {
    const { findings, passed } = await judge(content({ ...QUIET, acceptance: { checklist: ["it works"] } }));
    expect(findings).toMatchObject([{ severity: "warning", code: "NO_ACCEPTANCE" }]);
    expect(passed.map(({ path }) => path)).not.toContain("acceptance");
  });

  it("calls a script that nobody wrote a draft", async () => {
    const script = '#!/bin/sh\necho "write this check" >&2\nexit 1\n';
    expect(await wrong(QUIET, { "check.sh": script })).toEqual(["error PLACEHOLDER check.sh"]);
    expect(await wrong(QUIET, { "tests/scripts/a.sh": script })).toEqual(["error PLACEHOLDER tests/scripts/a.sh"]);
  });

  it.each([
    ["age", "age-encryption.org/v1\n-> X25519 x", []],
    ["age", '{"credentials":[{"name":"db"}]}', ["error VAULT_MISLABELED credentials.encryption"]],
    ["age", '{"sops":{}}', ["error VAULT_MISLABELED credentials.encryption"]],
    ["sops", '{"credentials":[],"sops":{}}', []],
    ["sops", "-----BEGIN AGE ENCRYPTED FILE-----", ["error VAULT_MISLABELED credentials.encryption"]],
  ] as const)("looks whether a vault called %s is one: %j", async (encryption, vault, findings) => {
    const credentials = { vault: "v", encryption, scopes: [] };
    expect(await wrong({ ...QUIET, credentials } as Partial<Manifest>, { v: vault })).toEqual(findings);
  });

  it("takes a credential that is in the vault for declared", async () => {
    const files = { "apis/endpoints.json": JSON.stringify({ auth: { credential_ref: "db" }, endpoints: [] }) };
    const named = async (encryption: "age" | "none", vault: string) =>
      (await wrong({ ...QUIET, credentials: { vault: "v", encryption, scopes: [] } }, { ...files, v: vault })).filter(
        (line) => line.includes("CREDENTIAL_UNKNOWN"),
      );
    expect(await named("none", '{"credentials":[{"name":"db"}]}')).toEqual([]);
    expect(await named("none", '{"credentials":[]}')).toEqual(["error CREDENTIAL_UNKNOWN apis/endpoints.json"]);
    // Nobody can look into a closed one.
    expect(await named("age", "age-encryption.org/v1\n")).toEqual(["warning CREDENTIAL_UNKNOWN apis/endpoints.json"]);
  });

  it.each([
    ["staging-db", "nutshell add-credential --name staging-db --type token"],
    ["a b", `\${EDITOR:-vi} nutshell.json`],
  ])("tells to add a credential only by a name that is taken: %s", async (name, fix) => {
    const { findings } = await judge(content({ ...QUIET, credentials: { scopes: [{ name, type: "token" }] } }, SCRIPT));
    expect(findings.find(({ code }) => code === "NO_VAULT")?.fix).toBe(fix);
  });

  it("makes the folder of a file it tells to write", async () => {
    const { findings } = await judge(content({ ...QUIET, context: { requirements: "docs/new/r.md" } }, SCRIPT));
    expect(findings[0]?.fix).toMatch(/^mkdir -p docs\/new && .+ docs\/new\/r\.md$/);
  });

  it("calls the four required fields and a summary ready, with warnings", async () => {
    const { status, missing, warnings } = await judge(content({ task }));
    expect({ status, missing }).toEqual({ status: "ready", missing: [] });
    expect(warnings).toHaveLength(3);
  });

  it("calls what init writes a draft, and says which command changes it", async () => {
    const manifest = newManifest({ id, createdAt: now.toISOString(), tool: "nutshell" });
    const { status, missing, findings } = await judge(
      content(manifest, { "context/requirements.md": outline("context/requirements.md") }),
      { dir: "my task" },
    );
    expect({ status, missing }).toEqual({
      status: "draft",
      missing: ["task.title", "task.summary", "context/requirements.md"],
    });
    expect(findings[0]?.fix).toBe("nutshell set task.title \"<what to do, in one line>\" --dir 'my task'");
  });

  // The contract's table, row by row.
  const rows: readonly (readonly [string, Partial<Manifest>, Record<string, string>, string[]])[] = [
    ["nothing wrong", QUIET, {}, []],
    ["empty title", { ...QUIET, task: { title: " ", summary: "x" } }, {}, ["error TITLE_EMPTY task.title"]],
    ["no summary", { ...QUIET, task: { title: "x" } }, {}, ["error SUMMARY_EMPTY task.summary"]],
    [
      "absent document",
      { ...QUIET, context: { architecture: "context/a.md" } },
      {},
      ["error REFERENCE_MISSING context.architecture"],
    ],
    [
      "document outside",
      { ...QUIET, context: { requirements: "../a.md" } },
      {},
      ["error REFERENCE_OUTSIDE context.requirements"],
    ],
    [
      "absolute document",
      { ...QUIET, context: { additional: ["/etc/passwd"] } },
      {},
      ["error REFERENCE_OUTSIDE context.additional"],
    ],
    [
      "scope without a vault",
      { ...QUIET, credentials: { scopes: [{ name: "db", type: "postgresql", expires_at: "2027-01-01T00:00:00Z" }] } },
      {},
      ["error NO_VAULT credentials.vault"],
    ],
    [
      "auth without a vault",
      { ...QUIET, apis: { auth_method: "bearer_token" } },
      {},
      ["error NO_VAULT apis.auth_method"],
    ],
    [
      "vault reference without a vault",
      { ...QUIET, apis: { credential_ref: "credentials/v.json" } },
      {},
      ["error REFERENCE_MISSING apis.credential_ref"],
    ],
    [
      "endpoints that name a credential nobody declares",
      QUIET,
      { "apis/endpoints.json": JSON.stringify({ auth: { credential_ref: "token" }, endpoints: [] }) },
      ["error NO_VAULT apis/endpoints.json"],
    ],
    [
      "endpoints with a schema that is not there",
      QUIET,
      {
        "apis/endpoints.json": JSON.stringify({
          endpoints: [{ method: "GET", path: "/a", response_schema: "schemas/a.json" }],
        }),
      },
      ["error REFERENCE_MISSING apis/endpoints.json"],
    ],
    [
      "absent test script",
      { ...QUIET, acceptance: { test_scripts: ["tests/a.sh"] } },
      {},
      ["error REFERENCE_MISSING acceptance.test_scripts"],
    ],
    [
      "criteria whose script is absent",
      QUIET,
      { "tests/criteria.json": criteria({ id: "1", type: "shell", script: "tests/a.sh" }) },
      ["error REFERENCE_MISSING tests/criteria.json"],
    ],
    [
      "criteria of a type nobody can run, unless a person judges them",
      QUIET,
      {
        "tests/criteria.json": criteria(
          { id: "1", type: "telepathy" },
          { id: "2", type: "manual", auto_verifiable: false },
        ),
      },
      ["error CRITERION_UNKNOWN tests/criteria.json"],
    ],
    [
      "criteria that expect what nobody compares",
      QUIET,
      {
        "tests/criteria.json": criteria(
          { id: "1", type: "shell", command: "true", expected: { stdout: "5", exit_code: 0 } },
          { id: "2", type: "manual", auto_verifiable: false, expected: { mood: "good" } },
        ),
      },
      ["error EXPECTATION_UNKNOWN tests/criteria.json"],
    ],
    ["criteria that are not JSON", QUIET, { "tests/criteria.json": "{" }, ["error FILE_INVALID tests/criteria.json"]],
    [
      "criteria that call an undeclared endpoint",
      QUIET,
      {
        "tests/criteria.json": criteria({ id: "1", type: "api_test", endpoint: "GET /b" }),
        "apis/endpoints.json": JSON.stringify({ endpoints: [{ method: "GET", path: "/a" }] }),
      },
      ["error ENDPOINT_UNKNOWN tests/criteria.json"],
    ],
    ["deadline in the past", { ...QUIET, expires_at: "2026-03-14T09:00:00Z" }, {}, ["error EXPIRED expires_at"]],
    ["deadline that is no date", { ...QUIET, expires_at: "soon" }, {}, ["error DATE_INVALID expires_at"]],
    [
      "a checklist of nothing",
      { ...QUIET, acceptance: { checklist: [" "] } },
      {},
      ["warning NO_ACCEPTANCE acceptance", "warning ITEM_EMPTY acceptance.checklist"],
    ],
    ["no acceptance", { ...QUIET, acceptance: {} }, {}, ["warning NO_ACCEPTANCE acceptance"]],
    ["no constraints", { ...QUIET, harness: {} }, {}, ["warning NO_CONSTRAINTS harness.constraints"]],
    ["no skills", { ...QUIET, tags: {} }, {}, ["warning NO_SKILLS tags.skills_required"]],
    [
      "over the budget",
      { ...QUIET, harness: { constraints: ["x"], context_budget_hint: 0.01 } },
      { "context/long.md": "word ".repeat(5000) },
      ["warning OVER_BUDGET harness.context_budget_hint"],
    ],
    [
      "credentials without, near and past their expiry, in clear",
      {
        ...QUIET,
        credentials: {
          vault: "v.json",
          encryption: "none",
          scopes: [
            { name: "a", type: "t" },
            { name: "b", type: "t", expires_at: "2026-03-16T10:00:00Z" },
            { name: "c", type: "t", expires_at: "2026-03-01T10:00:00Z" },
            { name: "d", type: "t", expires_at: "2026-05-01T10:00:00Z" },
          ],
        },
      },
      { "v.json": '{"credentials":[]}' },
      [
        "error EXPIRED credentials.scopes.c",
        "warning NOT_ENCRYPTED credentials.encryption",
        "warning NO_EXPIRY credentials.scopes.a",
        "warning EXPIRES_SOON credentials.scopes.b",
      ],
    ],
    [
      "missing image",
      { ...QUIET, resources: { images: [{ path: "files/a.png" }] } },
      {},
      ["warning REFERENCE_MISSING resources.images"],
    ],
    [
      "stale tree",
      { ...QUIET, files: { tree: [{ path: "files/gone.ts", size: 1 }] } },
      {},
      ["warning TREE_STALE files.tree"],
    ],
  ];
  for (const [name, manifest, files, expected] of rows) {
    it(`judges: ${name}`, async () => {
      expect(await wrong(manifest, files)).toEqual(expected);
    });
  }

  it("knows what checks need installed, and speaks of lock files that nothing says to install", async () => {
    const lock = { "files/package-lock.json": '{"packages":{"node_modules/x":{}}}' };
    const own = { ...QUIET, acceptance: { ...QUIET.acceptance } };
    expect(await wrong(own, lock)).toEqual(["warning INSTALL_UNSAID acceptance.install"]);
    expect(
      await wrong(own, { "files/package-lock.json": '{"packages":{"":{}}}', "requirements.txt": "# none\n" }),
    ).toEqual([]);
    expect(await wrong(own, { "files/a/b/requirements.txt": "flask\n" })).toEqual([]);
    const install = (...steps: (string | { path: string })[]) => ({
      ...own,
      acceptance: { ...own.acceptance, install: steps },
    });
    expect(await wrong(install("files/package-lock.json"), lock)).toEqual([]);
    expect(await wrong(install("package-lock.json"))).toEqual([]);
    expect(await wrong(install({ path: "tests/install.sh" }))).toEqual(["error REFERENCE_MISSING acceptance.install"]);
  });

  it("says when an ignore file is what leaves a document out", async () => {
    const manifest = { ...QUIET, context: { requirements: "context/r.md" } };
    expect(await wrong(manifest, {}, ["context/"])).toEqual(["error REFERENCE_IGNORED context.requirements"]);
  });

  it("resolves criteria from the root and endpoint schemas from apis/", async () => {
    const files = {
      "tests/criteria.json": criteria({ id: "1", type: "shell", script: "tests/a.sh" }),
      "tests/a.sh": "test -s out.txt || exit 1\nexit 0",
      "apis/endpoints.json": JSON.stringify({
        endpoints: [{ method: "GET", path: "/a", response_schema: "schemas/a.json" }],
      }),
      "apis/schemas/a.json": "{}",
    };
    expect(await wrong(QUIET, files)).toEqual([]);
  });
});

describe("assess on a delivery", () => {
  const delivery = { bundle_type: "delivery" as const, request_id: id, acceptance: { checklist: ["one", "two"] } };
  const result = (value: object) => ({ "delivery/result.json": JSON.stringify(value) });

  it("accepts one that answers its checklist and holds what it names", async () => {
    const files = {
      ...result({
        status: "completed",
        artifacts: { files_created: [{ path: "delivery/artifacts/a.ts" }], files_modified: [{ path: "b.ts" }] },
        acceptance_results: {
          checklist: [
            { item: "one", status: "passed" },
            { item: "two", status: "passed" },
          ],
        },
        execution_log: { full_log: "delivery/logs/run.log" },
      }),
      "delivery/artifacts/a.ts": "",
      "delivery/artifacts/b.ts": "",
      "delivery/logs/run.log": "",
    };
    expect(await wrong(delivery, files)).toEqual([]);
  });

  it("names everything that is not backed", async () => {
    const files = result({
      status: "completed",
      artifacts: { files_created: [{ path: "delivery/artifacts/a.ts" }] },
      acceptance_results: { checklist: [{ item: "one", status: "failed" }] },
      execution_log: { full_log: "delivery/logs/run.log" },
    });
    expect(await wrong({ ...delivery, request_id: undefined }, files)).toEqual([
      "error NO_REQUEST_ID request_id",
      "error ARTIFACT_MISSING delivery/result.json",
      "error LOG_MISSING delivery/result.json",
      "error ITEM_NOT_PASSED acceptance.one",
      "error ITEM_UNANSWERED acceptance.two",
    ]);
  });

  it("refuses an ignore file that drops the work", async () => {
    expect(await wrong(delivery, {}, ["delivery/"])).toEqual(["error DELIVERY_IGNORED .nutignore"]);
  });

  it("wants a result", async () => {
    expect(await wrong(delivery)).toEqual(["error NO_RESULT delivery/result.json"]);
    expect(await wrong(delivery, result({ status: "finished" }))).toEqual(["error FILE_INVALID delivery/result.json"]);
  });
});
