// Small tasks of our own in the shapes other people's have, as files.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type Texts = Readonly<Record<string, string>>;

export function writeTask(folder: string, files: Texts): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const LICENCE = `MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software, to deal in it.

THE SOFTWARE IS PROVIDED "AS IS", without warranty of any kind.
`;

const exercise = (files: Readonly<Record<"solution" | "test" | "example", string[]>>, more: Texts): Texts => ({
  ".meta/config.json": JSON.stringify({ authors: ["ada"], blurb: "Add up a list.", files }),
  ".docs/instructions.md": "# Instructions\n\nAdd up a list of numbers.\n",
  LICENSE: LICENCE,
  ...more,
});

/** Exercises by the name of their folder, each with a stub that fails, tests that are partly switched off, and an example. */
export const EXERCISES = {
  "python-total": exercise(
    { solution: ["total.py"], test: ["total_test.py"], example: [".meta/example.py"] },
    {
      "total.py": "def total(numbers):\n    pass\n",
      "total_test.py":
        "import unittest\n\nfrom total import total\n\n\nclass TotalTest(unittest.TestCase):\n    def test_none(self):\n        self.assertEqual(total([]), 0)\n\n    def test_some(self):\n        self.assertEqual(total([2, 3]), 5)\n",
      ".meta/example.py": "def total(numbers):\n    return sum(numbers)\n",
    },
  ),
  "python-untouched": exercise(
    { solution: ["total.py"], test: ["total_test.py"], example: [".meta/example.py"] },
    {
      "total.py": "def total(numbers):\n    return sum(numbers)\n",
      "total_test.py": "from total import total\n\n\ndef test_some():\n    assert total([2, 3]) == 5\n",
      ".meta/example.py":
        "def total(numbers):\n    result = 0\n    for number in numbers:\n        result += number\n    return result\n",
    },
  ),
  "go-total": exercise(
    { solution: ["total.go"], test: ["total_test.go"], example: [".meta/example.go"] },
    {
      "go.mod": "module total\n\ngo 1.18\n",
      "total.go": 'package total\n\nfunc Total(numbers []int) int {\n\tpanic("write it")\n}\n',
      "total_test.go":
        'package total\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{2, 3}); got != 5 {\n\t\tt.Fatalf("got %d", got)\n\t}\n}\n',
      ".meta/example.go":
        "package total\n\nfunc Total(numbers []int) int {\n\tsum := 0\n\tfor _, number := range numbers {\n\t\tsum += number\n\t}\n\treturn sum\n}\n",
    },
  ),
  "go-nothing": exercise(
    { solution: ["total.go"], test: ["total_test.go"], example: [".meta/example.go"] },
    {
      "go.mod": "module total\n\ngo 1.18\n",
      "total.go": "package total\n",
      "total_test.go": "package total\n",
      ".meta/example.go": "package total\n\nfunc Total() int { return 0 }\n",
    },
  ),
  "rust-total": exercise(
    { solution: ["src/lib.rs", "Cargo.toml"], test: ["tests/total.rs"], example: [".meta/example.rs"] },
    {
      "Cargo.toml": '[package]\nname = "total"\nversion = "1.0.0"\nedition = "2021"\n',
      "src/lib.rs": 'pub fn total(numbers: &[i32]) -> i32 {\n    todo!("{numbers:?}")\n}\n',
      "tests/total.rs":
        "use total::*;\n\n#[test]\nfn none() {\n    assert_eq!(total(&[]), 0);\n}\n\n#[test]\n#[ignore]\nfn some() {\n    assert_eq!(total(&[2, 3]), 5);\n}\n",
      ".meta/example.rs": "pub fn total(numbers: &[i32]) -> i32 {\n    numbers.iter().sum()\n}\n",
    },
  ),
  "java-total": exercise(
    {
      solution: ["src/main/java/Total.java"],
      test: ["src/test/java/TotalTest.java"],
      example: [".meta/src/reference/java/Adding.java", ".meta/src/reference/java/Total.java"],
    },
    {
      "build.gradle": 'plugins { id "java" }\n',
      gradlew: "#!/bin/sh\n",
      "src/main/java/Total.java":
        "class Total {\n    int of(int... numbers) {\n        throw new UnsupportedOperationException();\n    }\n}\n",
      "src/test/java/TotalTest.java":
        'import org.junit.jupiter.api.Disabled;\nimport org.junit.jupiter.api.Test;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\npublic class TotalTest {\n    @Test\n    public void none() {\n        assertEquals(0, new Total().of());\n    }\n\n    @Disabled("Remove to run test")\n    @Test\n    public void some() {\n        assertEquals(5, new Total().of(2, 3));\n    }\n}\n',
      ".meta/src/reference/java/Total.java":
        "class Total {\n    int of(int... numbers) {\n        return Adding.all(numbers);\n    }\n}\n",
      ".meta/src/reference/java/Adding.java":
        "class Adding {\n    static int all(int... numbers) {\n        int sum = 0;\n        for (int number : numbers) sum += number;\n        return sum;\n    }\n}\n",
    },
  ),
  "javascript-total": exercise(
    { solution: ["total.js"], test: ["total.spec.js"], example: [".meta/proof.ci.js"] },
    {
      "package.json": JSON.stringify({
        name: "@exercism/javascript-total",
        license: "MIT",
        devDependencies: { jest: "^29.7.0", eslint: "^8.49.0", "@types/jest": "^29.5.12" },
        scripts: { test: "jest ./*" },
      }),
      ".npmrc": "audit=false\n",
      "total.js": "export const total = () => {\n  throw new Error('write it');\n};\n",
      "total.spec.js":
        "import { total } from './total';\n\ndescribe('total', () => {\n  test('none', () => {\n    expect(total([])).toBe(0);\n  });\n\n  xtest('some', () => {\n    expect(total([2, 3])).toBe(5);\n  });\n\n  test.skip('more', () => {\n    expect(total([2, 3, 4])).toBe(9);\n  });\n});\n",
      ".meta/proof.ci.js": "export const total = (numbers) => numbers.reduce((a, b) => a + b, 0);\n",
    },
  ),
  "cpp-total": exercise(
    { solution: ["cpp_total.h"], test: ["cpp_total_test.cpp"], example: [".meta/example.h", ".meta/example.cpp"] },
    {
      "CMakeLists.txt": "cmake_minimum_required(VERSION 3.5.1)\n",
      "cpp_total.h": "#pragma once\n",
      "cpp_total_test.cpp": '#include "cpp_total.h"\n',
      ".meta/example.h": "#pragma once\nint total();\n",
      ".meta/example.cpp": '#include "cpp_total.h"\nint total() { return 0; }\n',
    },
  ),
} satisfies Readonly<Record<string, Texts>>;

export type ExerciseName = keyof typeof EXERCISES;
