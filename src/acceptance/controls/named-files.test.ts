import { expect, it } from "vitest";
import { namedTests } from "./named-files.js";

it("a framework in one header is no test, whoever includes it", () => {
  const files: Readonly<Record<string, string>> = {
    "tests/check.sh": "c++ total_test.cpp && ./a.out\n",
    "total_test.cpp":
      '#include "test/catch.hpp"\n#include "test/wanted.h"\nTEST_CASE("a") { REQUIRE(total() == WANTED); }\n',
    "test/catch.hpp": "#define CATCH_TEST_CASE(...) x\nif (left != right) return 1;\n",
    "test/wanted.h": "#define WANTED 3\n",
  };
  const view = { exists: (path: string) => path in files, read: (path: string) => files[path] ?? null, list: () => [] };
  expect(namedTests(files["tests/check.sh"]!, "tests/check.sh", view)).toEqual(["total_test.cpp", "test/wanted.h"]);
});
