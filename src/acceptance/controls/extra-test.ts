// One more test at the end of a file, which fails: a runner that is made to say "passed" to everything says it of this too.

import type { RunnerKind } from "../runners/recognise.js";
import { pairBrackets } from "./text/brackets.js";
import { maskText } from "./text/mask.js";

export interface ExtraTest {
  readonly text: string;
  /** Names as the runner reports them, from the outside in. */
  readonly names: readonly string[];
}

const NAME = "nutshell control";

/** null where nobody knows how a test is added. */
export function extraTest(runner: RunnerKind, text: string): ExtraTest | null {
  const end = text.endsWith("\n") ? "" : "\n";
  switch (runner) {
    case "node-test":
      return { text: `${text}${end};${nodeTest(text)}\n`, names: [NAME] };
    case "vitest":
    case "playwright": {
      const module = runner === "vitest" ? "vitest" : "@playwright/test";
      const from = isModule(text)
        ? `import { test as controlTest, expect as controlExpect } from "${module}";`
        : `const { test: controlTest, expect: controlExpect } = require("${module}");`;
      return {
        text: `${text}${end}${from}\ncontrolTest("${NAME}", () => { controlExpect(1).toBe(2); });\n`,
        names: [NAME],
      };
    }
    case "jest":
      return { text: `${text}${end};test("${NAME}", () => { expect(1).toBe(2); });\n`, names: [NAME] };
    case "pytest":
      return {
        text: `${text}${end}\n\ndef test_nutshell_control():\n    assert 1 == 2\n`,
        names: ["test_nutshell_control"],
      };
    case "go-test":
      return {
        text: `${text}${end}\nfunc TestNutshellControl(t *testing.T) { t.Fatal("nutshell control") }\n`,
        names: ["TestNutshellControl"],
      };
    case "cargo-test":
      return {
        text: `${text}${end}\n#[test]\nfn nutshell_control() { assert_eq!(1, 2); }\n`,
        names: ["nutshell_control"],
      };
    case "junit":
      return javaTest(text);
    default:
      return null;
  }
}

function nodeTest(text: string): string {
  const fails = (test: string, assert: string) => `${test}("${NAME}", () => ${assert}.equal(1, 2));`;
  if (!isModule(text)) return fails('require("node:test")', 'require("node:assert")');
  return `import { test as controlTest } from "node:test"; import controlAssert from "node:assert"; ${fails("controlTest", "controlAssert")}`;
}

export function isModule(text: string): boolean {
  return /^\s*(?:import\s*["'{*\w]|export\s)/m.test(maskText(text, "javascript"));
}

function javaTest(text: string): ExtraTest | null {
  const mask = maskText(text, "java");
  const type = /\bclass\s+(\w+)/.exec(mask);
  const open = type === null ? -1 : mask.indexOf("{", type.index);
  const close = open < 0 ? -1 : pairBrackets(mask)[open]!;
  if (type === null || close < 0) return null;
  const jupiter = text.includes("org.junit.jupiter");
  const [test, assertions] = jupiter ? ["jupiter.api.Test", "jupiter.api.Assertions"] : ["Test", "Assert"];
  const body = `  @org.junit.${test} public void nutshellControl() { org.junit.${assertions}.assertEquals(1, 2); }\n`;
  return { text: `${text.slice(0, close)}${body}${text.slice(close)}`, names: [type[1]!, "nutshellControl"] };
}
