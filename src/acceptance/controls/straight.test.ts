import { describe, expect, it } from "vitest";
import type { TestLanguage } from "./assertions.js";
import { straightAssertions } from "./straight.js";
import { applyEdits } from "./text/edit.js";

/** Lines as they are when each expectation is altered alone. */
const alone = (language: TestLanguage, text: string): string[] =>
  straightAssertions("tests/x", text, language).flatMap(({ assertions }) =>
    assertions.map(({ edits }) => {
      const before = text.split("\n");
      return applyEdits(text, edits)
        .split("\n")
        .find((line, index) => line !== before[index])!
        .trim();
    }),
  );

describe("expectations that are reached whenever their test is", () => {
  it("are those in the body of a test, not in branches, loops, callbacks or behind a return", () => {
    const text = `test("a", () => {
  assert.equal(f(), 1);
  if (x) { assert.equal(f(), 2); }
  list.forEach((each) => { assert.equal(each, 3); });
  for (const each of list) assert.equal(each, 4);
  assert.equal(f(), 5);
  if (y) return;
  assert.equal(f(), 6);
});`;
    expect(alone("javascript", text)).toEqual(["assert.equal(f(), 2);", "assert.equal(f(), 6);"]);
    expect(
      alone("python", "def test_a():\n    assert f() == 1\n    if x:\n        assert f() == 2\n    assert f() == 3\n"),
    ).toEqual(["assert f() == 2", "assert f() == 4"]);
  });

  it("are those of main in C and Java, guards too", () => {
    expect(
      alone("c", "int main(void) {\n  if (f() != 1) return 1;\n  if (f() != 3) return 2;\n  return 0;\n}\n"),
    ).toEqual(["if (f() != 2) return 1;", "if (f() != 4) return 2;"]);
  });

  it("are none where a test is meant to fail", () => {
    expect(
      alone(
        "rust",
        '#[test]\n#[should_panic(expected = "no")]\nfn a() {\n    assert_eq!(f(), 1);\n    assert_eq!(f(), 2);\n}\n',
      ),
    ).toEqual([]);
  });
});

describe("expectations that reach their assertion by a name", () => {
  it.each([
    [
      "python",
      "CASES = [(1, 2), (3, 4)]\ndef test_a():\n    for a, b in CASES:\n        assert f(a) == b\n",
      ["CASES = [(1, 3), (3, 4)]", "CASES = [(1, 2), (3, 5)]"],
    ],
    [
      "javascript",
      "for (const { a, sum } of [{ a: 1, sum: 2 }, { a: 3, sum: 4 }]) assert.equal(f(a), sum);",
      [
        "for (const { a, sum } of [{ a: 1, sum: 3 }, { a: 3, sum: 4 }]) assert.equal(f(a), sum);",
        "for (const { a, sum } of [{ a: 1, sum: 2 }, { a: 3, sum: 5 }]) assert.equal(f(a), sum);",
      ],
    ],
    [
      "python",
      "def same(label, got, want):\n    assert got == want, label\n\ndef test_a():\n    same('one', f(1), 2)\n    same('two', f(3), 4)\n",
      ["same('one', f(1), 3)", "same('two', f(3), 5)"],
    ],
    [
      "java",
      'class C {\n  static void same(Object got, Object want) {\n    if (!got.equals(want)) throw new AssertionError("no");\n  }\n  public static void main(String[] a) {\n    same(f(1), 2);\n    same(f(3), 4);\n  }\n}\n',
      ["same(f(1), 3);", "same(f(3), 5);"],
    ],
  ] as const)("%s: rows of tables and arguments of helpers", (language, text, expected) => {
    expect(alone(language, text)).toEqual(expected);
  });

  it("are not looked for where nobody can say which part is the answer", () => {
    expect(alone("python", "def test_a():\n    for a, b in [(1, 2)]:\n        assert f(a, b)\n")).toEqual([]);
  });
});

describe("hostile texts", () => {
  it.each([
    ["javascript", "for (const [a] of ".repeat(5_000)],
    ["python", "for a, b in [".repeat(5_000)],
    ["c", "int main(void) { if (".repeat(3_000)],
  ] as const)("are read in bounded time: %s", { timeout: 20_000 }, (language, text) => {
    expect(alone(language, text)).toEqual([]);
  });
});
