import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { findAssertions, readTestText } from "./assertions.js";
import { applyEdits } from "./text/edit.js";
import { ALTERED } from "./text/marks.js";

/** A text with every expectation altered. */
const altered = (path: string, text: string): string =>
  applyEdits(
    text,
    findAssertions(path, text).flatMap(({ edits }) => edits),
  );

/** `~altered` stands for the word that is new in every process. */
const TABLE: readonly (readonly [string, string, string])[] = [
  ["a.test.mjs", "assert.equal(add(2, 3), 5)", "assert.equal(add(2, 3), 6)"],
  ["a.test.mjs", "assert.equal(5, sum)", "assert.equal(6, sum)"],
  ["a.test.mjs", 'assert.equal(f(")"), "a\\"b")', 'assert.equal(f(")"), "a\\"b~altered")'],
  ["a.test.mjs", "assert.deepEqual(f(), [1, 2])", "assert.deepEqual(f(), [2, 2])"],
  ["a.test.mjs", "assert.deepEqual(f(), [])", 'assert.deepEqual(f(), ["~altered"])'],
  ["a.test.mjs", "assert.deepEqual(f(), { a: g() })", 'assert.deepEqual(f(), {"~altered": 1,  a: g() })'],
  ["a.test.mjs", "assert.equal(f(), null)", 'assert.equal(f(), "~altered")'],
  ["a.test.mjs", "assert.ok(list.length === 3)", "assert.ok(list.length === 4)"],
  ["a.test.mjs", 'assert(out.includes("yes"))', 'assert(out.includes("yes~altered"))'],
  ["a.test.mjs", "assert.notEqual(a, b)", "assert.equal(a, b)"],
  ["a.test.mjs", "assert.match(out, /a|b/i)", "assert.match(out, /(?!)(?:a|b)/i)"],
  ["a.test.mjs", "assert.throws(() => f())", "assert.throws(() => f(), /(?!)/)"],
  ["a.test.mjs", 'assert.throws(() => f(), "why")', 'assert.throws(() => f(), /(?!)/, "why")'],
  ["a.test.mjs", "// assert.equal(a, 5)", "// assert.equal(a, 5)"],
  ["a.test.mjs", "const s = `assert.equal(a, 5)`;", "const s = `assert.equal(a, 5)`;"],
  ["a.test.ts", "expect(f()).toBe(true)", "expect(f()).toBe(false)"],
  ["a.test.ts", "expect(f()).not.toBe(5)", "expect(f()).toBe(5)"],
  ["a.test.ts", "await expect(p).rejects.toThrow()", 'await expect(p).rejects.toThrow("~altered")'],
  ["a.test.ts", "expect(f()).toBeGreaterThan(3)", "expect(f()).toBeGreaterThan(Infinity)"],
  ["a.test.ts", "expect(f()).toBeTruthy()", "expect(f()).not.toBeTruthy()"],
  ["a.test.ts", "expect(f()).toMatchSnapshot()", "expect(f()).toMatchSnapshot()"],
  ["a.mjs", "if (add(2, 3) !== 5) throw new Error()", "if (add(2, 3) !== 6) throw new Error()"],
  ["a.t", "use Test::More;\nis(f(1, 2), 3, 'adds');", "use Test::More;\nis(f(1, 2), 4, 'adds');"],
  ["a.t", "use strict; use Test::More;\nis(f(1, 2), 3);", "use strict; use Test::More;\nis(f(1, 2), 4);"],
  ["test_a.rb", "assert_equal 6, f([1, 2])", "assert_equal 7, f([1, 2])"],
  ["check.rb", "raise 'sum' unless f([1, 2]) == 3", "raise 'sum' unless f([1, 2]) == 4"],
  ["a_spec.rb", "expect(f(1)).to eq('a')", "expect(f(1)).to eq('a~altered')"],
  ["check.rb", "total = 3 # f() == 3", "total = 3 # f() == 3"],
  ["check.php", "<?php\nif (f([1, 2]) !== 3) { exit(1); }", "<?php\nif (f([1, 2]) !== 4) { exit(1); }"],
  [
    "check.php",
    "<?php\nfunction same($want, $got) {\n  if ($want !== $got) exit(1);\n}\nsame(3, f(2));",
    "<?php\nfunction same($want, $got) {\n  if ($want !== $got) exit(1);\n}\nsame(4, f(2));",
  ],
  ["README.md", ">>> f(1)\n6\n", ">>> f(1)\n~altered6\n"],
  ["README.md", "  >>> f(\n  ... 1)\n  [1,\n   2]\n", "  >>> f(\n  ... 1)\n  ~altered[1,\n   2]\n"],
  ["README.md", ">>> a = 1\n>>> f(a)\n'b'\n", ">>> a = 1\n>>> f(a)\n~altered'b'\n"],
  ["README.md", ">>> f() # doctest: +SKIP\n6\n", ">>> f() # doctest: +SKIP\n6\n"],
  ["README.md", "```\n>>> f()\n```\n\nText.\n", "```\n>>> f()\n```\n\nText.\n"],
  ["README.md", "a > b and >> c\n6\n", "a > b and >> c\n6\n"],
  ["a.t", "use Test::More;\nis(f(1), $wanted);", "use Test::More;\nisnt(f(1), $wanted);"],
  ["a.t", "use Test::More;\nok(f(1) == 3, 'adds');", "use Test::More;\nok(!(f(1) == 3), 'adds');"],
  ["a.t", "use Test::More;\nis_deeply(f(), [1]);", 'use Test::More;\nis_deeply(f(), "~altered");'],
  ["test_a.py", 'assert f() == "x", "why"', 'assert f() == "x~altered", "why"'],
  ["test_a.py", "assert f() == (1, 2)", "assert f() == (2, 2)"],
  ["test_a.py", "assert x is None", "assert not (x is None)"],
  ["test_a.py", "assert a == 1 and b == 2", "assert not (a == 1 and b == 2)"],
  ["test_a.py", '"""\nassert a == 1\n"""', '"""\nassert a == 1\n"""'],
  [
    "test_a.py",
    "with pytest.raises(ValueError):\n    f()",
    'with pytest.raises(ValueError, match="~altered"):\n    f()',
  ],
  ["test_a.py", "def test_a(): assert f() == 1", "def test_a(): assert f() == 2"],
  ["test_a.py", "def test_a() -> None: x = f(); assert x == 1", "def test_a() -> None: x = f(); assert x == 2"],
  ["test_a.py", "class A:\n    def b(self): self.assertTrue(x)", "class A:\n    def b(self): self.assertTrue(not (x))"],
  ["test_a.py", "for x in (1, 2): assert f(x) == 1", "for x in (1, 2): assert f(x) == 2"],
  [
    "test_a.py",
    "def test_a():\n    with pytest.raises(ValueError): f()",
    'def test_a():\n    with pytest.raises(ValueError, match="~altered"): f()',
  ],
  ["test_a.py", "self.assertIsNone(x)", "self.assertIsNotNone(x)"],
  ["a.sh", '[ "$x" = "5" ]', '[ "$x" = "6" ]'],
  ["a.sh", "[[ $out == *done* ]]", "[[ $out == *done~altered* ]]"],
  ["a.sh", '[ "$a" -ge 3 ]', '[ "$a" -lt 3 ]'],
  ["a.sh", "./run | grep -q 'yes'", "./run | grep -q '~altered'"],
  ["a.sh", '# [ "$x" = "5" ]', '# [ "$x" = "5" ]'],
  ["a.sh", "echo '[ 1 = 2 ]'", "echo '[ 1 = 2 ]'"],
  ["a.sh", 'want=5\n[ "$x" = "$want" ]', 'want=6\n[ "$x" = "$want" ]'],
  ["a_test.go", 'if got != "x" { t.Fatal() }', 'if got != "x~altered" { t.Fatal() }'],
  ["a_test.go", "if got != want { t.Fatal() }", "if !(got != want) { t.Fatal() }"],
  ["a_test.go", "assert.Equal(t, 5, got)", "assert.Equal(t, 6, got)"],
  ["a.rs", "assert_eq!(f(), 255u8);", "assert_eq!(f(), 254u8);"],
  ["a.rs", "assert_eq!(f(), g());", "assert_ne!(f(), g());"],
  [
    "a.rs",
    "assert_eq!(Shop::new().sell(&[id], |_| 0), Err(id));",
    "assert_ne!(Shop::new().sell(&[id], |_| 0), Err(id));",
  ],
  ["a.rs", "assert_eq!(f(), Shop::of(1).into());", "assert_eq!(f(), Shop::of(2).into());"],
  ["a.rs", "assert!(matches!(f(), Ok(_)));", "assert!(!(matches!(f(), Ok(_))));"],
  ["a.rs", 'assert!(f(), "{} is", x);', 'assert!(!(f()), "assertion failed: {} is", x);'],
  ["a.rs", 'assert!(f(), r#"no"#);', 'assert!(!(f()), r#"assertion failed: no"#);'],
  ["ATest.java", 'assertEquals("a", f());', 'assertEquals("a~altered", f());'],
  ["ATest.java", "assertThat(f()).isTrue();", "assertThat(f()).isFalse();"],
  ["ATest.java", "assertThat(set.contains(1)).isTrue();", "assertThat(set.contains(1)).isFalse();"],
  ["ATest.java", 'assertThat(f()).as("why")\n  .contains(1);', 'assertThat(f()).as("why")\n  .contains(2);'],
  ["ATest.java", "assertThat(f()).isNotNull()\n  .isNotEmpty();", "assertThat(f()).isNotNull()\n  .isEmpty();"],
  ["ATest.java", "assertThat(x).isEqualTo(y, within(E));", "assertThat(x).isNotCloseTo(y, within(E));"],
  ["a.c", "assert(f('a') == 'b');", "assert(f('a') == 'x');"],
  ["a.cc", "EXPECT_EQ(f(), 3);", "EXPECT_EQ(f(), 4);"],
  ["a.cc", "REQUIRE_THAT(f(), WithinAbs(1.0, e));", "REQUIRE_THAT(f(), !(WithinAbs(1.0, e)));"],
];

describe("altered expectations", () => {
  it.each(TABLE)("%s: %s", (path, text, other) => {
    expect(altered(path, text)).toBe(other.replaceAll("~altered", ALTERED));
  });
});

describe("declared tests", () => {
  const names = (path: string, text: string) =>
    readTestText(path, text).tests.map(
      (test) => `${test.names.join(" > ")}${test.sure ? "" : "?"}${test.skips ? "~" : ""}`,
    );

  it("are found with their groups, and with how sure they are", () => {
    const text = `describe("g", () => { it("a", () => {}); it.skip("b", () => {}); for (const x of y) it("c" + x, () => {}); });
if (x) test("d", () => {});
test("e's", { skip: true }, () => {});
test.each([1])("f %i", () => {});`;
    expect(names("a.test.js", text)).toEqual(["g > a", "g > b~", "g > \0?", "d?", "e's~", "f \0?"]);
    expect(
      names(
        "test_a.py",
        "class TestA:\n    def test_b(self): pass\n@pytest.mark.skip\ndef test_c(): pass\ndef helper(): pass\n",
      ),
    ).toEqual(["TestA > test_b", "test_c~"]);
    expect(names("a.rs", "mod m { #[test] fn a() {} }\n#[test]\n#[ignore]\nfn b() {}\n")).toEqual(["m::a", "b~"]);
    // A feature and a platform are the base's; another name may be set by a build script of the work.
    const left = `#[cfg(feature = "io")]\nmod io { #[test] fn a() { assert_eq!(f(), 1); } }\n#[test]\n#[cfg(all(unix, not(feature = "x")))]\nfn b() {}
#[cfg(own)]\n#[test]\nfn c() {}\n#[cfg(test)]\nmod t { #[test] fn d() { assert_eq!(f(), 1); } }\n`;
    expect(names("a.rs", left)).toEqual(["io::a?", "b?", "c", "t::d"]);
    expect(readTestText("a.rs", left).assertions.map(({ sure }) => sure)).toEqual([false, true]);
  });
});

describe("hostile texts", () => {
  it.each([
    ["a.test.mjs", "assert.equal(".repeat(50_000)],
    ["a.test.mjs", "`${".repeat(100_000)],
    ["test_a.py", "assert (".repeat(50_000)],
    ["a.sh", '"$('.repeat(50_000)],
    ["a_test.go", "if a { ".repeat(50_000)],
    ["a.rs", "'".repeat(200_000)],
  ])("are read in bounded time: %s", { timeout: 20_000 }, (path, text) => {
    expect(Array.isArray(findAssertions(path, text))).toBe(true);
  });
});

describe.runIf(spawnSync("python3", ["--version"]).status === 0)("an altered object of the work's own", () => {
  it.each([
    ["all of it", "return self.__dict__ == other.__dict__"],
    ["what a method of it says", "return self.says() == other.says()"],
    ["what a method says that is called like its attributes", "return self.__dict__() == other.__dict__()"],
    ["a part of it", "return self.label == other.label and self.children == other.children"],
  ])("is compared by %s, and is another", (_, compares) => {
    const said = compares.includes("__dict__()") ? "__dict__" : "says";
    const tree = `class Tree:\n    def __init__(self, label):\n        self.label, self.children = label, []\n    def ${said}(self):\n        return {self.label: 1}\n    def __eq__(self, other):\n        ${compares}\n`;
    const test = altered("test_a.py", "def test_a():\n    expected = Tree(1)\n    assert Tree(1) == expected\n");
    expect(test).toContain(ALTERED);
    const run = spawnSync("python3", ["-c", `${tree}\n${test}\ntest_a()`], { encoding: "utf8" });
    expect(run.stderr.trim().split("\n").at(-1)).toBe("AssertionError");
  });
});
