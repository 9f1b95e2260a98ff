import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { conformanceSchemas } from "../../src/commands/nexus/conformance/schemas.js";
import { toolList } from "../../src/mcp/definitions.js";
import listed from "../../src/mcp/tool-list.json" with { type: "json" };
import { freshProject, nexus } from "./nexus.js";

const upstream = resolve("../shared/data/nexus-conformance");
const foreign = resolve("tests/state/foreign-suite");
const own = resolve("core/conformance");

describe("conformance", () => {
  it("passes its own suite, in process and over MCP", async () => {
    const { code, out } = await nexus(freshProject(), ["conformance", "--json"]);
    const { passed, failed, failures, doors } = JSON.parse(out);
    expect({ failed, failures, doors }).toEqual({ failed: 0, failures: [], doors: ["in process", "over MCP"] });
    expect(passed).toBeGreaterThan(100);
    expect(code).toBe(0);
  });

  // The suite of nexus-core itself, where it is at hand.
  const suites: [string, number][] = [
    [foreign, 7],
    ...(existsSync(upstream) ? [[upstream, 32] as [string, number]] : []),
  ];
  it.each(suites)("passes a suite in nexus-core's forms: %s", async (suite, passed) => {
    const { out } = await nexus(freshProject(), ["conformance", "--fixtures", suite, "--json"]);
    expect(JSON.parse(out)).toMatchObject({ failed: 0, failures: [], passed });
  });

  it("covers every field of every state schema and every parameter", async () => {
    const { code, out } = await nexus(freshProject(), ["conformance", "coverage", "--json"]);
    const { schemas, params } = JSON.parse(out);
    expect(schemas.flatMap(({ uncovered }: { uncovered: string[] }) => uncovered)).toEqual([]);
    expect({ params, code }).toEqual({ params: [], code: 0 });
  });

  it("has schemas made from the product's own", () => {
    for (const [name, schema] of Object.entries(conformanceSchemas())) {
      const written = JSON.parse(readFileSync(join(own, name), "utf8"));
      expect(written, `${name}: npx tsx scripts/generate-conformance.ts`).toEqual(JSON.parse(JSON.stringify(schema)));
    }
  });

  it("says which assertion failed, and answers 1", async () => {
    const project = fixtureFolder({
      test_id: "wrong",
      description: "expects what is not so",
      covers: { return_value: { plan_status: ["active"] } },
      action: { tool: "plan_status", params: {} },
      postcondition: { return_value: { "$.active": true } },
    });
    const { code, out } = await nexus(project, ["conformance", "--fixtures", "suite", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      passed: 0,
      failed: 1,
      failures: [
        {
          test_id: "wrong",
          file: "tools/one.json",
          door: "in process",
          message: "result: $.active is false, not true",
        },
        { door: "over MCP" },
      ],
    });
  });

  it.each([
    ["not JSON", "{"],
    [
      "both an action and steps",
      { action: { tool: "context", params: {} }, steps: [{ action: { tool: "context", params: {} } }] },
    ],
    [
      "an unknown token",
      { precondition: { state_files: { "{HOME}/x.json": {} } }, action: { tool: "context", params: {} } },
    ],
    [
      "an unknown token for a file that is absent",
      { precondition: { state_files: { "{HOME}/x.json": null } }, action: { tool: "context", params: {} } },
    ],
    [
      "an unknown token behind a step that fails",
      {
        steps: [
          { action: { tool: "context", params: {} }, assert_return: { "$.branch": "no such branch" } },
          { action: { tool: "context", params: {} }, assert_state: { "{ROOT}/x.json": null } },
        ],
      },
    ],
    ["a token in an argument", { action: { tool: "history_search", params: { query: "{STATE_ROOT}" } } }],
    [
      "a token in what lies there before",
      {
        precondition: { state_files: { "{STATE_ROOT}/x.json": { at: "{WHO}" } } },
        action: { tool: "context", params: {} },
      },
    ],
    [
      "a token in what must come back",
      {
        action: { tool: "context", params: {} },
        postcondition: { return_value: { "$.branch": { type: "string", pattern: "{WHO}" } } },
      },
    ],
    [
      "a path that leaves the project",
      { precondition: { state_files: { "../x.json": {} } }, action: { tool: "context", params: {} } },
    ],
    ["an unknown event", { event: { type: "session_start" } }],
  ])("refuses a fixture with %s, with 2", async (_, content) => {
    const project = fixtureFolder(
      typeof content === "string"
        ? content
        : {
            test_id: "broken",
            description: "cannot be run at all",
            covers: { return_value: { context: [] } },
            ...content,
          },
    );
    const { code, err } = await nexus(project, ["conformance", "--fixtures", "suite"]);
    expect(code).toBe(2);
    expect(err).toContain("one.json");
  });

  it("reports a field and a parameter nobody looks at, with 1", async () => {
    const project = fixtureFolder({
      test_id: "careless",
      description: "passes a parameter and forgets it",
      covers: { state_schemas: { "plan.schema.json": ["id"] } },
      action: { tool: "history_search", params: { query: "x" } },
    });
    const schemas = join(project, "suite", "state-schemas");
    mkdirSync(schemas);
    writeFileSync(
      join(schemas, "plan.schema.json"),
      '{"type":"object","properties":{"id":{"type":"number"},"topic":{"type":"string"}}}',
    );
    const { code, out } = await nexus(project, ["conformance", "coverage", "--fixtures", "suite", "--json"]);
    expect(JSON.parse(out)).toEqual({
      schemas: [{ schema: "plan.schema.json", fields: 2, uncovered: ["topic"] }],
      params: [{ test_id: "careless", file: "tools/one.json", param: "query" }],
      complete: false,
    });
    expect(code).toBe(1);
  });
});

describe("the tool list", () => {
  it("is the one made from the operations", () => {
    expect(listed, "npx tsx scripts/generate-tools.ts").toEqual(JSON.parse(JSON.stringify(toolList())));
  });

  it("names the eleven tools of the contract", () => {
    expect(listed.map(({ name }) => name)).toEqual([
      "nx_plan_start",
      "nx_plan_status",
      "nx_plan_update",
      "nx_plan_decide",
      "nx_task_add",
      "nx_task_list",
      "nx_task_update",
      "nx_task_close",
      "nx_history_search",
      "nx_context",
      "nx_artifact_write",
    ]);
  });

  it("costs a model at most 3,000 tokens", () => {
    expect(encode(JSON.stringify(listed)).length).toBeLessThanOrEqual(3_000);
  });
});

function fixtureFolder(content: unknown): string {
  const project = freshProject();
  mkdirSync(join(project, "suite", "tools"), { recursive: true });
  writeFileSync(
    join(project, "suite", "tools", "one.json"),
    typeof content === "string" ? content : JSON.stringify(content),
  );
  return project;
}
