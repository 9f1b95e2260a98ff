import { describe, expect, it } from "vitest";
import { renderPrompt } from "./render.js";
import { parseYaml } from "./yaml.js";

const fail = (reason: string) => new Error(reason);

describe("renderPrompt", () => {
  it("puts frontmatter before the body and the tools' names after it", () => {
    expect(
      renderPrompt({
        body: "# Lead\n\nCall `plan_start`, then `task_add`.\n",
        frontmatter: { name: "lead", model: undefined, tools: "Read, Grep", manual: true },
        toolNames: {
          task_add: "mcp__x__nx_task_add",
          plan_start: "mcp__x__nx_plan_start",
          context: "mcp__x__nx_context",
        },
        notes: ["Report with your last message."],
      }),
    ).toBe(
      [
        "---\nname: lead\ntools: Read, Grep\nmanual: true\n---\n",
        "# Lead\n\nCall `plan_start`, then `task_add`.\n",
        "Report with your last message.\n",
        "## Tool names here\n\n- `task_add` is `mcp__x__nx_task_add`\n- `plan_start` is `mcp__x__nx_plan_start`\n",
      ].join("\n"),
    );
  });

  it("leaves a text alone when there is nothing to add", () => {
    expect(renderPrompt({ body: "text\n", toolNames: { text: "other" } })).toBe("text\n");
  });

  it("writes frontmatter that reads back as it was, whatever is in it", () => {
    const fields = {
      plain: "a role, of sorts",
      colon: "first: second # third",
      quoted: `say "hi"\nthere`,
      word: "yes",
      truth: "true",
      nothing: "null",
      number: "12",
      empty: "",
      dash: "- x",
      list: ["a", "b, c", "no", "[d]", "Shell(git *)"],
    };
    const text = renderPrompt({ body: "", frontmatter: fields });
    expect(parseYaml(text.split("---")[1]!, fail)).toEqual(fields);
  });
});
