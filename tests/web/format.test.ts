// Documents of strangers: what is parsed in the worker, and what a link says against where it leads.
import { describe, expect, it } from "vitest";
import { csvRows } from "../../src/web/page/csv.js";
import { piecesOf, wordRanges } from "../../src/web/page/diff/pieces.js";
import { format } from "../../src/web/page/format/format.js";
import { languageOf } from "../../src/web/page/format/languages.js";
import { leadsTo, safeLink } from "../../src/web/page/visible.js";

describe("formatting", () => {
  it("gives tokens for a document, its code coloured and escaped", () => {
    const answer = format({ kind: "markdown", text: "# A\n\n```js\nconst a = '<b>';\n```\n" });
    const { tokens } = answer as unknown as { tokens: { type: string; html: string }[] };
    const { html } = tokens.find(({ type }) => type === "code")!;
    expect(html).toMatch(/^<span class="hljs-keyword">const<\/span>/);
    expect(html).toContain("&lt;b&gt;");
  });

  it("knows tables and lists of tasks", () => {
    const text = "| a | b |\n|---|---|\n| c | `d` |\n\n- [x] agreed\n";
    expect(format({ kind: "markdown", text })).toMatchObject({ kind: "markdown" });
  });

  it.each([
    ["lists in lists", Array.from({ length: 60 }, (_, at) => `${"  ".repeat(at)}- x`).join("\n")],
    ["quotes in quotes", `${">".repeat(3_000)} x`],
    ["more parts than a page can draw", "*a* ".repeat(30_000)],
  ])("gives up on %s and says so", (_, text) => {
    expect(format({ kind: "markdown", text })).toEqual({ kind: "plain", why: expect.stringMatching(/^it /) });
  });

  it("colours what it knows by the file's name, and leaves long text as it is", () => {
    expect(languageOf("a/Dockerfile")).toBe("dockerfile");
    expect(languageOf("a/b.mjs")).toBe("javascript");
    expect(languageOf("a/b.unknown")).toBe("");
    expect(format({ kind: "code", text: "x".repeat(120_001), language: "json" })).toEqual({ kind: "plain", why: "" });
  });
});

describe("a changed line", () => {
  it.each([
    ["const a = 1;", "const b = 1;", "const [a] = 1;", "const [b] = 1;"],
    ["f(title)", "f(title, owner)", "f(title)", "f(title[, owner])"],
    ["nothing", "of this", "nothing", "of this"],
    ["same", "same", "same", "same"],
    ["aa", "aaa", "aa", "aaa"],
  ])("%s → %s", (left, right, before, after) => {
    const marked = wordRanges(left, right);
    const told = [left, right].map((line, side) =>
      piecesOf(line, undefined, marked[side]!)
        .map(({ text, isChanged }) => (isChanged ? `[${text}]` : text))
        .join(""),
    );
    expect(told).toEqual([before, after]);
  });
});

describe("a table", () => {
  it.each([
    [
      "a,b\n1,2\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      'a;b\r\n"x;\n""y""";2\r\n',
      [
        ["a", "b"],
        ['x;\n"y"', "2"],
      ],
    ],
    [
      "a\tb\n1\t",
      [
        ["a", "b"],
        ["1", ""],
      ],
    ],
    [
      "a,b\n,\n",
      [
        ["a", "b"],
        ["", ""],
      ],
    ],
    ["one line of words\n", null],
    ['a,"b\n', null],
    ['a,"b"c\n', null],
  ])("is read from %j", (text, rows) => {
    expect(csvRows(text, 10)).toEqual(rows);
  });

  it("is read as far as it is shown", () => {
    expect(csvRows("a,b\n".repeat(1_000), 3)).toHaveLength(3);
  });
});

describe("a link", () => {
  it.each([
    ["the ticket", "https://evil.example/x", null],
    ["https://bank.example", "https://bank.example/login", null],
    ["www.bank.example", "https://bank.example", null],
    ["bank.example/login", "https://evil.example", "evil.example"],
    ["https://bank.example", "https://evil.example/bank.example", "evil.example"],
    ["https://bank.example@evil.example", "https://evil.example", null],
    ["go to https://bank.example now", "http://evil.example:81/", "evil.example:81"],
    ["ada@example.org", "mailto:ada@example.org?subject=x", null],
    ["ada@example.org", "mailto:eve@evil.example", "eve@evil.example"],
    ["bаnk.example", "https://xn--bnk-7cd.example", "xn--bnk-7cd.example"],
    ["version 1.2.3 of a.b", "https://example.org", null],
  ])("that says %s and leads to %s", (text, href, told) => {
    expect(leadsTo(text, href)).toBe(told);
  });

  it("goes to the web or a mail address, and nowhere else", () => {
    for (const bad of ["javascript:1", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "//evil.example"])
      expect(safeLink(bad)).toBeNull();
  });
});
