// The prompts are data other programs act on: what can be checked about them without a model is checked here.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bodyOf, findCoreFolder, readManifestFast } from "../../src/catalog/index.js";
import { readReport } from "../../src/run/agents/report.js";
import { readReview, readTest } from "../../src/run/review/answer.js";

const CORE = findCoreFolder();
const { agents, skills } = readManifestFast(CORE);
const texts = [
  ...agents.map((agent) => ({ id: agent.id, body: bodyOf(CORE, "agents", agent) })),
  ...skills.map((skill) => ({ id: skill.id, body: bodyOf(CORE, "skills", skill) })),
];

const TOOLS = [
  ...["plan_start", "plan_status", "plan_update", "plan_decide", "task_add", "task_list", "task_update", "task_close"],
  ...["history_search", "context", "artifact_write"],
];
const POLICIES = ["fresh", "resume", "resume_if_same_artifact"];

describe("every prompt", () => {
  it.each(texts)("$id names no host and no host's tools", ({ body }) => {
    expect(body).not.toMatch(/claude|codex|opencode|cursor|gemini|anthropic|openai|mcp__|\bnx_|TodoWrite|WebFetch/i);
    expect(body).not.toMatch(/\bthe (Bash|Edit|Write|Read|Grep|Glob|Task) tool/);
  });

  it.each(texts)("$id names only tools that exist", ({ body }) => {
    const words = [...body.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, word]) => word!);
    expect(words.filter((word) => !TOOLS.includes(word) && !POLICIES.includes(word))).toEqual([]);
  });

  it.each(texts)("$id treats what it reads as material and says when to stop", ({ id, body }) => {
    expect(body).toMatch(/material|evidence/);
    expect(body).toMatch(
      id === "nx-plan" ? /stops you/ : id === "nx-run" ? /stop this task/ : /^## (When to stop|Stop)$/m,
    );
    expect(body.endsWith("\n")).toBe(true);
    expect(body).not.toMatch(/[ \t]$|\r|TODO|—/m);
  });
});

describe("a role's prompt", () => {
  const roles = agents.map((agent) => ({ id: agent.id, agent, body: bodyOf(CORE, "agents", agent) }));

  it.each(roles)("$id has every part Lead relies on, in order", ({ id, body }) => {
    const parts = [...body.matchAll(/^##? (.+)$/gm)].map(([, title]) => title!);
    const must = [
      ...[
        "What is yours to decide",
        "What is not yours to decide",
        "Limits",
        "Text you read is material",
        "How you work",
      ],
      ...["Before you hand back", "Report to Lead", "When to stop"],
    ];
    expect(parts[0]?.toLowerCase()).toBe(id);
    expect(parts.filter((title) => must.includes(title))).toEqual(must);
  });

  it.each(roles)("$id says the limits its capabilities put on it", ({ agent, body }) => {
    expect(body).toMatch(/(add(ing)?|create) tasks/i);
    if (agent.capabilities.includes("no_file_edit")) {
      expect(body).toMatch(/(do not|may not) edit/);
      expect(body).toMatch(/[Dd]o not write through (it|a shell)/);
    }
    if (agent.capabilities.includes("no_task_update")) expect(body).toMatch(/change or close them/);
  });

  it.each(roles)("$id reports in one shape per category", ({ agent, body }) => {
    const first = /```\n([A-Z]+):/.exec(body)?.[1];
    expect(first).toBe({ how: "RECOMMENDATION", do: "RESULT", check: "VERDICT" }[agent.category]);
  });
});

describe("what the harness reads in a report", () => {
  const example = (id: string) =>
    /```\n([\s\S]+?)```/.exec(bodyOf(CORE, "agents", agents.find((a) => a.id === id)!))![1]!;

  it.each(["tester", "reviewer"])("is in the shape %s is told to use", (id) => {
    const report = example(id).replace("[passed|failed|unknown]", "[passed]");
    expect(readReport(report).issues).toHaveLength(1);
    const filled = report.replace("pass | fail | blocked", "pass").replace("[passed]", "[failed]");
    for (const read of [readReview, readTest]) {
      expect(read(filled, ["the first point"])).toMatchObject({
        verdict: "pass",
        judgements: [{ item: "the first point", status: "failed" }],
      });
      // A form nobody filled in says nothing good.
      expect(read(report, []).verdict).toBe("fail");
    }
    expect(readReview(report, ["the first point"]).judgements).toMatchObject([{ status: "passed" }]);
  });

  it.each(["engineer", "writer"])("is in the shape %s is told to use", (id) => {
    const { decisions, issues } = readReport(example(id));
    expect(decisions).toEqual([{ decision: "what you chose where the task left it open", reason: "why" }]);
    expect(issues).toHaveLength(1);
  });
});

describe("a skill's prompt", () => {
  it.each(skills.map((skill) => ({ id: skill.id, body: bodyOf(CORE, "skills", skill) })))(
    "$id fits into what hosts inject at once, with room for the tools' names",
    ({ body }) => expect(body.length).toBeLessThanOrEqual(8_600),
  );

  it("tells Lead of all eleven tools between planning and running", () => {
    const both = ["nx-plan", "nx-run"]
      .map((id) => readFileSync(join(CORE, "skills", id, "body.md"), "utf8"))
      .join("\n");
    expect(TOOLS.filter((tool) => !both.includes(`\`${tool}\``))).toEqual([]);
  });

  it("names every field a planned task has", () => {
    const plan = readFileSync(join(CORE, "skills", "nx-plan", "body.md"), "utf8");
    const fields = ["title", "context", "approach", "acceptance", "risk", "owner", "deps", "plan_issue", "goal"];
    for (const field of [...fields, "decisions", "owner_reuse_policy"]) expect(plan).toContain(`**${field}**`);
    for (const field of ["owner_agent_id", "how_agents", "how_summary", "how_agent_ids", "research_summary"]) {
      expect(plan).toContain(field);
    }
  });
});

describe("the hand-over in the skill", () => {
  it("has the contract's blocks in the contract's order", () => {
    const run = readFileSync(fileURLToPath(new URL("../../core/skills/nx-run/body.md", import.meta.url)), "utf8");
    expect(run).toMatch(/TASK: [\s\S]+CONTEXT:[\s\S]+APPROACH:[\s\S]+ACCEPTANCE:/);
  });
});
