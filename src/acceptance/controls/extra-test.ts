// One more test at the end of a file, which fails: a runner that is made to say "passed" to everything says it of this too.

import type { RunnerKind } from "../runners/recognise.js";
import { pairBrackets } from "./text/brackets.js";
import { newWord, twoNumbers } from "./text/marks.js";
import { maskText } from "./text/mask.js";

export interface ExtraTest {
  readonly text: string;
  /** Names as the runner reports them, from the outside in. */
  readonly names: readonly string[];
}

/** null where nobody knows how a test is added. */
export function extraTest(runner: RunnerKind, text: string): ExtraTest | null {
  const end = text.endsWith("\n") ? "" : "\n";
  const name = newWord();
  const [one, other] = twoNumbers();
  switch (runner) {
    case "node-test":
      return { text: `${text}${end};${nodeTest(text, name)}\n`, names: [name] };
    case "vitest":
    case "playwright": {
      const module = runner === "vitest" ? "vitest" : "@playwright/test";
      const [test, expect] = [newWord(), newWord()];
      const from = isModule(text)
        ? `import { test as ${test}, expect as ${expect} } from "${module}";`
        : `const { test: ${test}, expect: ${expect} } = require("${module}");`;
      return {
        text: `${text}${end}${from}\n${test}("${name}", () => { ${expect}(${one}).toBe(${other}); });\n`,
        names: [name],
      };
    }
    case "jest":
      return { text: `${text}${end};test("${name}", () => { expect(${one}).toBe(${other}); });\n`, names: [name] };
    case "pytest":
      return {
        text: `${text}${end}\n\ndef test_${name}():\n    assert ${one} == ${other}\n`,
        names: [`test_${name}`],
      };
    case "go-test":
      return {
        text: `${text}${end}\nfunc Test_${name}(t *testing.T) { t.Fatal("${newWord()}") }\n`,
        names: [`Test_${name}`],
      };
    case "cargo-test":
      return {
        text: `${text}${end}\n#[test]\nfn ${name}() { assert_eq!(${one}, ${other}); }\n`,
        names: [name],
      };
    case "junit":
      return javaTest(text, name);
    default:
      return null;
  }
}

function nodeTest(text: string, name: string): string {
  const fails = (test: string, assert: string) =>
    `${test}("${name}", () => ${assert}.equal(${twoNumbers().join(", ")}));`;
  if (!isModule(text)) return fails('require("node:test")', 'require("node:assert")');
  const [test, assert] = [newWord(), newWord()];
  return `import { test as ${test} } from "node:test"; import ${assert} from "node:assert"; ${fails(test, assert)}`;
}

export function isModule(text: string): boolean {
  return /^\s*(?:import\s*["'{*\w]|export\s)/m.test(maskText(text, "javascript"));
}

function javaTest(text: string, name: string): ExtraTest | null {
  const mask = maskText(text, "java");
  const type = /\bclass\s+(\w+)/.exec(mask);
  const open = type === null ? -1 : mask.indexOf("{", type.index);
  const close = open < 0 ? -1 : pairBrackets(mask)[open]!;
  if (type === null || close < 0) return null;
  const jupiter = text.includes("org.junit.jupiter");
  const [test, assertions] = jupiter ? ["jupiter.api.Test", "jupiter.api.Assertions"] : ["Test", "Assert"];
  const body = `  @org.junit.${test} public void ${name}() { org.junit.${assertions}.assertEquals(${twoNumbers().join(", ")}); }\n`;
  return { text: `${text.slice(0, close)}${body}${text.slice(close)}`, names: [type[1]!, name] };
}
