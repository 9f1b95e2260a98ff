import type { CriterionResult } from "../schema/delivery.js";

type Row = CriterionResult & { readonly type: string; readonly output: string };

/**
 * JUnit XML, as CI systems read it: one suite, one case per check. What did not run is an error, so that a report is green
 * only where `accept` says passed.
 */
export function junitXml(suite: string, checks: readonly Row[], verdict = "passed"): string {
  const isGreen = checks.every(({ status }) => status === "passed");
  const whole: Row = {
    id: "verdict",
    type: "verdict",
    status: "unknown",
    reason: `accept says ${verdict}`,
    output: "",
  };
  const results = isGreen && verdict !== "passed" ? [...checks, whole] : checks;
  const count = (...statuses: string[]) => results.filter(({ status }) => statuses.includes(status)).length;
  const time = seconds(results.reduce((sum, { duration_ms = 0 }) => sum + duration_ms, 0));
  const totals = `tests="${results.length}" failures="${count("failed")}" errors="${count("skipped", "unknown")}" skipped="0" time="${time}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite name="${escaped(suite)}" ${totals}>`,
    ...results.flatMap((result) => testCase(suite, result)),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(suite: string, result: Row): string[] {
  const { id, description, status, reason = "", duration_ms = 0, output } = result;
  const name = description === undefined ? id : `${id}: ${description}`;
  const head = `    <testcase classname="${escaped(suite)}" name="${escaped(name)}" time="${seconds(duration_ms)}">`;
  const body: string[] = [];
  if (status === "failed") body.push(`      <failure message="${escaped(reason)}"/>`);
  if (status === "skipped" || status === "unknown")
    body.push(`      <error type="not run" message="${escaped(reason)}"/>`);
  if (output !== "") body.push(`      <system-out>${escaped(output)}</system-out>`);
  return [head, ...body, "    </testcase>"];
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const ENTITIES: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };

/** XML has no way to write most control characters, so they become spaces' visible cousin. */
function escaped(text: string): string {
  return text
    .replace(/[<>&"]/g, (character) => ENTITIES[character]!)
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      "\ufffd",
    );
}
