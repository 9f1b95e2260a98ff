// tests/criteria.json: what the harness runs to decide whether the work is done.
import { z } from "zod";

/** Every type a criterion may have. */
export const CRITERION_TYPES = [
  "shell",
  "custom",
  "node-test",
  "vitest",
  "jest",
  "pytest",
  "go-test",
  "cargo-test",
  "junit",
  "playwright",
  "tap",
  "api_test",
  "sql_check",
] as const;

export const TEST_FRAMEWORKS = [
  "shell",
  "pytest",
  "go-test",
  "jest",
  "custom",
  "node-test",
  "vitest",
  "cargo-test",
  "junit",
  "playwright",
  "tap",
] as const;

export const Expected = z.looseObject({
  exit_code: z.int().optional(),
  stdout_contains: z.union([z.string(), z.array(z.string())]).optional(),
  status_code: z.int().optional(),
  body_contains: z.union([z.string(), z.array(z.string())]).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  result: z.unknown().optional().describe("first column of the first row, or the rows"),
});

/** What a criterion expects and no version of ours compares: passing would say more than was looked at. */
export const unknownExpectations = (expected: z.infer<typeof Expected> = {}): string[] =>
  Object.keys(expected).filter((name) => !Object.hasOwn(Expected.shape, name));

/** What can be expected, to tell a person. */
export const EXPECTATIONS = Object.keys(Expected.shape).join(", ");

export const Criterion = z.looseObject({
  id: z.string().min(1),
  description: z.string().optional(),
  type: z.string().min(1).describe(CRITERION_TYPES.join(", ")),
  script: z.string().optional().describe("path from the bundle's root"),
  query: z.string().optional(),
  command: z.string().optional().describe("a shell line, instead of a script"),
  database: z
    .string()
    .optional()
    .describe("path of a SQLite file in the result, or postgres: a fresh server of the check's own"),
  setup: z.string().optional().describe("script that fills the fresh database; its connection is in PG* variables"),
  report: z.string().optional().describe("path of the JUnit XML or TAP file the check writes, from the bundle's root"),
  endpoint: z.string().optional().describe("such as GET /api/v1/users, declared in apis/endpoints.json"),
  base_url: z.string().optional().describe("where the endpoint is, when apis/endpoints.json does not say"),
  start: z.string().optional().describe("script that serves the result on 127.0.0.1:$PORT while the endpoint is asked"),
  headers: z.record(z.string(), z.string()).optional().describe("sent with the request"),
  body: z.unknown().optional().describe("sent with the request; anything but text as JSON"),
  credential_ref: z.string().optional().describe("a credential's name"),
  timeout_seconds: z.number().positive().optional(),
  auto_verifiable: z.boolean().optional(),
  after: z
    .array(z.string())
    .readonly()
    .optional()
    .describe("ids of criteria whose outputs this one needs, such as a build"),
  repeatable: z
    .boolean()
    .optional()
    .describe("may run several times although it uses a network or a credential; others always do"),
  needs: z.array(z.string()).optional().describe("ptrace: the check is a debugger or a tracer"),
  expected: Expected.optional(),
});

export const Criteria = z
  .looseObject({
    criteria_version: z.string().optional(),
    test_framework: z.enum(TEST_FRAMEWORKS).optional(),
    auto_verifiable: z.boolean().optional(),
    criteria: z.array(Criterion),
  })
  .describe("Nutshell v0.2.0 acceptance criteria, tests/criteria.json");

export type Criteria = z.infer<typeof Criteria>;
export type Criterion = z.infer<typeof Criterion>;

/** A timer holds 31 bits of milliseconds. */
const LONGEST_SECONDS = Math.floor((2 ** 31 - 1) / 1000);

/** Why criteria that have the right shape still cannot be run: no clock, no name or no order fits them. null when they can. */
export function criteriaProblem(criteria: readonly Criterion[]): string | null {
  const seen = new Set<string>();
  for (const { id, timeout_seconds: seconds = 0 } of criteria) {
    if (seconds > LONGEST_SECONDS) return `"${id}" may take ${seconds} s, which is longer than ${LONGEST_SECONDS} s`;
    if (seen.has(id)) return `two criteria are called "${id}"`;
    seen.add(id);
  }
  return orderProblem(criteria);
}

/** What comes after something must name it, and nothing comes after itself. */
function orderProblem(criteria: readonly Criterion[]): string | null {
  const waiting = new Map(criteria.map(({ id, after }) => [id, new Set(after)]));
  const followers = new Map<string, string[]>();
  for (const { id, after = [] } of criteria) {
    for (const earlier of after) {
      if (!waiting.has(earlier)) return `"${id}" comes after "${earlier}", which is no criterion`;
      const list = followers.get(earlier);
      if (list === undefined) followers.set(earlier, [id]);
      else list.push(id);
    }
  }
  const free = criteria.filter(({ after = [] }) => after.length === 0).map(({ id }) => id);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    waiting.delete(id);
    for (const next of followers.get(id) ?? []) {
      const rest = waiting.get(next)!;
      rest.delete(id);
      if (rest.size === 0) free.push(next);
    }
  }
  const [stuck] = waiting.keys();
  return stuck === undefined ? null : `"${stuck}" comes after itself`;
}
