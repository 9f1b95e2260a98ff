// tests/criteria.json: what the harness runs to decide whether the work is done.
import { z } from "zod";

export const TEST_FRAMEWORKS = ["shell", "pytest", "go-test", "jest", "custom"] as const;

export const Expected = z.looseObject({
  exit_code: z.int().optional(),
  stdout_contains: z.union([z.string(), z.array(z.string())]).optional(),
  status_code: z.int().optional(),
  body_contains: z.union([z.string(), z.array(z.string())]).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  result: z.unknown().optional().describe("first column of the first row, or the rows"),
});

export const Criterion = z.looseObject({
  id: z.string().min(1),
  description: z.string().optional(),
  type: z.string().min(1).describe("shell, pytest, go-test, jest, custom, api_test, sql_check"),
  script: z.string().optional().describe("path from the bundle's root"),
  query: z.string().optional(),
  endpoint: z.string().optional().describe("such as GET /api/v1/users, declared in apis/endpoints.json"),
  credential_ref: z.string().optional().describe("a credential's name"),
  timeout_seconds: z.number().positive().optional(),
  auto_verifiable: z.boolean().optional(),
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
