import { describe, expect, it } from "vitest";
import { readTap } from "./tap.js";
import { readJUnitFile } from "./xml.js";

describe("TAP", () => {
  it("is read point by point, with subtests and what was left out", () => {
    const text =
      "TAP version 13\n# Subtest: outer\n    ok 1 - inner\nok 1 - outer\nnot ok 2 - wrong\nok 3 - later # SKIP no network\n1..3\n";
    expect(readTap(text, false)).toEqual([
      { id: "tap > outer > inner", status: "passed" },
      { id: "tap > outer", status: "passed" },
      { id: "tap > wrong", status: "failed", assertion: true },
      { id: "tap > later", status: "skipped" },
    ]);
  });

  it("misses tests its plan promises", () => {
    expect(readTap("1..3\nok 1 - a\n", false)).toContainEqual({
      id: "tap > the whole plan",
      status: "failed",
      assertion: false,
      promised: true,
    });
  });

  it("is not seen in other output", () => {
    expect(readTap("ok 1 - said a log\n", false)).toBe(null);
  });
});

describe("JUnit's XML", () => {
  it("is read case by case", () => {
    const text =
      '<testsuite><testcase classname="a" name="x &gt; y"/><testcase classname="a" name="z"><failure message="assert 1 == 2">…</failure></testcase><testcase name="e" classname="a"><error message="boom"/></testcase><testcase classname="a" name="s"><skipped/></testcase></testsuite>';
    expect(readJUnitFile(text)).toEqual([
      { id: "a > x > y", status: "passed" },
      { id: "a > z", status: "failed", assertion: true },
      { id: "a > e", status: "failed", assertion: false },
      { id: "a > s", status: "skipped" },
    ]);
  });

  it("knows Catch's assertions by the macro", () => {
    const text =
      '<testcase classname="a" name="x"><failure message="f() == 4" type="REQUIRE"/></testcase><testcase classname="a" name="y"><error message="f() == 4" type="REQUIRE">boom</error></testcase>';
    expect(readJUnitFile(text)).toEqual([
      { id: "a > x", status: "failed", assertion: true },
      { id: "a > y", status: "failed", assertion: false },
    ]);
  });

  it("is not written by what a test prints into it", () => {
    const said = '<testcase classname="a" name="hard"/>';
    const text = `<testsuite><testcase classname="a" name="easy"><system-out><![CDATA[${said}]]></system-out></testcase><!-- ${said} --></testsuite>`;
    expect(readJUnitFile(text)).toEqual([{ id: "a > easy", status: "passed" }]);
  });

  it("is read in bounded time", { timeout: 10_000 }, () => {
    expect(readJUnitFile("<testcase ".repeat(20_000))).toHaveLength(1);
    expect(readJUnitFile("<testcase>".repeat(20_000))).toHaveLength(20_000);
  });
});
