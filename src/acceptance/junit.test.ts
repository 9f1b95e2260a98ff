import { expect, it } from "vitest";
import { junitXml } from "./junit.js";

it("writes one case per check, safe for any XML reader", () => {
  const xml = junitXml('a "task"', [
    {
      id: "A",
      description: "works <well>",
      type: "shell",
      status: "passed",
      duration_ms: 1500,
      output: "ok \u001b[31m\ud800",
    },
    { id: "B", type: "shell", status: "failed", reason: "exit 1 & more", duration_ms: 20, output: "" },
    { id: "C", type: "jest", status: "skipped", reason: "jest is not installed", output: "" },
  ]);
  expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" errors="1" skipped="0" time="1.520">
  <testsuite name="a &quot;task&quot;" tests="3" failures="1" errors="1" skipped="0" time="1.520">
    <testcase classname="a &quot;task&quot;" name="A: works &lt;well&gt;" time="1.500">
      <system-out>ok \ufffd[31m\ufffd</system-out>
    </testcase>
    <testcase classname="a &quot;task&quot;" name="B" time="0.020">
      <failure message="exit 1 &amp; more"/>
    </testcase>
    <testcase classname="a &quot;task&quot;" name="C" time="0.000">
      <error type="not run" message="jest is not installed"/>
    </testcase>
  </testsuite>
</testsuites>
`);
});

it("is green only where accept says passed", () => {
  const check = { id: "A", type: "shell", status: "passed", output: "" } as const;
  expect(junitXml("t", [check])).toContain('failures="0" errors="0"');
  const incomplete = junitXml("t", [check], "incomplete");
  expect(incomplete).toContain('tests="2" failures="0" errors="1"');
  expect(incomplete).toContain('message="accept says incomplete"');
});
