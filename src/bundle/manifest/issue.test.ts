import { describe, expect, it } from "vitest";
import { parseIssue } from "./issue.js";

describe("parseIssue", () => {
  it("reads Markdown: title, first paragraph, task list", () => {
    const text =
      "# Slugs are ugly\r\n\r\nTitles become\r\n-a--b-.\r\n\r\n## Tasks\r\n- [ ] no dash at the ends\r\n- [x] no two\r\n";
    expect(parseIssue(text)).toEqual({
      title: "Slugs are ugly",
      summary: "Titles become -a--b-.",
      checklist: ["no dash at the ends", "no two"],
      labels: [],
      body: "Titles become\n-a--b-.\n\n## Tasks\n- [ ] no dash at the ends\n- [x] no two",
      url: undefined,
    });
  });

  it("takes the bullets under a heading that says what done means, and no others", () => {
    const text = "Title\n\n- seen on Monday\n\n## Acceptance criteria\n1. it works\n- it is fast\n\n## Notes\n- none";
    expect(parseIssue(text)).toMatchObject({
      title: "Title",
      summary: undefined,
      checklist: ["it works", "it is fast"],
    });
  });

  it("reads a tracker's JSON", () => {
    const issue = { title: "T", body: "Why.", labels: [{ name: "bug" }, "css", 3], html_url: "https://example.com/1" };
    expect(parseIssue(JSON.stringify(issue))).toMatchObject({
      title: "T",
      summary: "Why.",
      labels: ["bug", "css"],
      url: "https://example.com/1",
    });
    expect(parseIssue('{"title":"T","description":null}')).toMatchObject({
      body: "",
      summary: undefined,
      checklist: [],
    });
  });

  it.each(["", "\n\n", "{", '{"body":"x"}'])("refuses %j", (text) => {
    expect(() => parseIssue(text)).toThrow(expect.objectContaining({ code: "ISSUE_INVALID" }));
  });
});
