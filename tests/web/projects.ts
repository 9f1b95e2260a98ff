// A project in full swing, written as the harnesses write it.
import type { Content } from "./folders.js";

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

export interface Size {
  readonly tasks: number;
  readonly agents: number;
}

export function taskList(count: number): object {
  const tasks = Array.from({ length: count }, (_, at) => {
    const id = at + 1;
    const deps = id <= 2 ? [] : [...new Set([Math.max(1, id - 1 - (id % 5)), Math.max(1, id - 2 - (id % 7))])];
    const status = id <= count * 0.3 ? "completed" : id <= count * 0.4 ? "in_progress" : "pending";
    return {
      id,
      title: `Task number ${id}`,
      context: "What there is to know.",
      status,
      deps,
      owner: id % 2 === 0 ? "engineer" : "tester",
    };
  });
  return { goal: "Everything works", decisions: ["Keep it small"], tasks };
}

export function project({ tasks, agents }: Size): Content {
  return {
    ".nexus/.gitignore": "state/\n",
    ".nexus/state/plan.json": {
      id: 2,
      topic: "Signed cookies",
      created_at: ago(4_000),
      research_summary: "Sessions live in memory.",
      issues: [
        {
          id: 1,
          title: "Which scheme",
          status: "decided",
          decision: "HMAC, with rotation",
          how_summary: { architect: "HMAC is enough" },
        },
        { id: 2, title: "What about old sessions", status: "pending" },
      ],
    },
    ".nexus/state/tasks.json": taskList(tasks),
    ".nexus/state/nutcracker/agent-tracker.json": Array.from({ length: agents }, (_, at) => ({
      harness_id: "nutcracker",
      agent_name: "engineer",
      agent_id: `agent-${at}`,
      started_at: ago(60 + at),
      status: at % 2 === 0 ? "running" : "completed",
      resume_count: 0,
      ...(at % 2 === 0
        ? {}
        : { stopped_at: ago(5), last_message: "All tests pass.", files_touched: [`src/file-${at}.ts`] }),
    })),
    ".nexus/state/nutcracker/agent-tracker.extension.json": { extends: "agent-tracker", tasks: { "agent-0": 4 } },
    ".nexus/state/nutcracker-claude/agent-tracker.json": [
      {
        harness_id: "nutcracker-claude",
        agent_name: "architect",
        agent_id: "a1",
        started_at: ago(30),
        status: "running",
      },
    ],
    ".nexus/state/edit-tracker.json": { files: { "src/cookie.ts": [{ agent_id: "agent-0", at: ago(9) }] } },
    ".nexus/state/tool-log.jsonl": [
      { at: ago(20), agent_name: "engineer", tool: "partial_file_edit", path: "src/cookie.ts", ok: true },
      {
        at: ago(10),
        agent_name: "tester",
        tool: "file_creation",
        path: "src/new.ts",
        ok: false,
        error: "denied: no_file_edit",
      },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
    ".nexus/state/artifacts/notes/research.md": "# Notes\n\nThree services.\n",
    ".nexus/history.json": {
      cycles: [
        {
          schema_version: "0.7",
          completed_at: ago(90_000),
          branch: "main",
          plan: {
            id: 1,
            topic: "Rate limits",
            created_at: ago(99_000),
            issues: [{ id: 1, title: "Where", status: "decided", decision: "In the gateway" }],
          },
          tasks: [],
        },
        {
          schema_version: "0.7",
          completed_at: ago(80_000),
          branch: "main",
          plan: null,
          tasks: [{ id: 1, title: "Tidy up", context: "x", status: "completed", deps: [] }],
        },
      ],
    },
    ".nexus/state/nutcracker/runs/20260101-000000-aaaa/run.json": {
      id: "20260101-000000-aaaa",
      created_at: ago(300),
      title: "Wish list",
      request_id: "nut-1",
      request: "/tmp/wish-list.nut",
      driver: "demo",
      budget: { timeMs: 600_000, tokens: 200_000, agentMs: 1, stallMs: 1, loop: 1 },
      review_plan: false,
      yes: false,
      force: false,
      output: "/tmp/wish-list-delivery.nut",
    },
    ".nexus/state/nutcracker/runs/20260101-000000-aaaa/journal.jsonl": journal(),
    ".nexus/state/nutcracker/runs/20260101-000000-aaaa/logs/credential-uses.jsonl": uses(),
  };
}

/** What was lent, with a line that is none and words that would move a cursor. */
function uses(): string {
  const use = { name: "shop", at: "2026-01-01T00:00:00Z", by: "engineer-1", sent: 0, received: 2048 };
  return [
    { ...use, what: "GET https://shop.example/v1/users", allowed: true, status: 200 },
    { name: 7, what: {} },
    {
      ...use,
      what: "DELETE https://shop.example/v1/users\u001b[2J",
      allowed: false,
      why: "may only read",
      received: 0,
    },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

/** As version 1 wrote it. */
function journal(): string {
  const task = { context: "c", deps: [], owner: "engineer", kind: "work" };
  const plan = {
    source: "default",
    goal: "Wish list",
    tasks: [
      { ...task, id: 1, title: "Store" },
      { ...task, id: 2, title: "Test" },
    ],
    decisions: [],
    issues: [],
  };
  const digest = `sha256:${"0".repeat(64)}`;
  const agent = (id: number) => [
    {
      type: "agent_started",
      agent: `engineer-${id}`,
      task: id,
      role: "engineer",
      purpose: "work",
      mode: "fresh",
      reason: "",
      base: 0,
      slot: `slot-${id}`,
    },
    {
      type: "agent_ended",
      agent: `engineer-${id}`,
      task: id,
      outcome: "done",
      text: "",
      ms: 1,
      usage: { tokens: 25_000, costUsd: 0.25 },
      changes: [],
      problems: [],
      tools: [],
      reported: true,
      decisions: [],
      issues: [],
      verdicts: [],
    },
  ];
  return [
    { type: "created", run: "20260101-000000-aaaa" },
    { type: "opened", digest, base: digest },
    { type: "planned", plan },
    ...agent(1),
    { type: "merging", task: 1, agent: "engineer-1", changes: [] },
    { type: "merged", task: 1, agent: "engineer-1" },
    { type: "task_completed", task: 1, evidence: "checked" },
    ...agent(2),
    { type: "task_failed", task: 2, problems: ["one test fails"] },
    { type: "asked", task: 2, question: "task 2 failed again: one test fails" },
    { type: "paused", reason: "question", message: "a task needs an answer", hint: "nexus resume", ms: 60_000 },
  ]
    .map((event) => `${JSON.stringify({ at: ago(100), ...event })}\n`)
    .join("");
}
