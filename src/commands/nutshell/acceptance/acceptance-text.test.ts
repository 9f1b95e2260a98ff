import { expect, it } from "vitest";
import { reportLines } from "./acceptance-text.js";

it("says why a request with hidden checks alone is not done", () => {
  const counts = { passed: 0, failed: 0, skipped: 0, unknown: 0, proven: 0 };
  const hidden = { count: 1, run: true, results: [{ id: "hidden 1", name: "x", status: "passed" as const }] };
  const lines = reportLines({ verdict: "incomplete", counts, results: [], hidden, compared: true, warnings: [] });
  expect(lines.at(-1)).toContain(
    "the request has no check but hidden ones, 0 proven by the work, 1 of 1 hidden passed",
  );
});
