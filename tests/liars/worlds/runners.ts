// vitest and jest, from PATH.
import { command, type World } from "../table.js";
import { summing } from "./node.js";

const TASK = "Make total(prices) return the sum of its prices";
const cases = (from: string) => `${from}
test("adds up", () => {
  expect(total([1, 2, 3])).toBe(6);
});
test("takes negative prices", () => {
  expect(total([10, -4])).toBe(6);
});
test("nothing costs nothing", () => {
  expect(total([])).toEqual(0);
});
`;

export const vitestWorld: World = {
  id: "vitest",
  stack: "vitest",
  needs: ["vitest"],
  task: TASK,
  files: {
    "files/src/total.mjs": "export function total(prices) {\n  return 0;\n}\n",
    "tests/total.test.mjs": cases(
      'import { expect, test } from "vitest";\nimport { total } from "../files/src/total.mjs";',
    ),
  },
  criteria: [command("AC-1", "vitest run tests/total.test.mjs")],
  honest: { "files/src/total.mjs": summing },
};

/** The settings are the project's own. */
export const vitestProject: World = {
  ...vitestWorld,
  id: "vitest-project",
  files: {
    ...vitestWorld.files,
    "vitest.config.mjs": 'export default { test: { include: ["tests/**/*.test.mjs"] } };\n',
  },
  criteria: [command("AC-1", "vitest run")],
};

const brokenCommon = "exports.total = (prices) => 0;\n";
export const summingCommon = "exports.total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n";

export const jest: World = {
  id: "jest",
  stack: "jest",
  needs: ["jest"],
  task: TASK,
  files: {
    "package.json": '{\n  "name": "totals",\n  "version": "1.0.0"\n}\n',
    "files/src/total.js": brokenCommon,
    "tests/total.test.js": cases('const { total } = require("../files/src/total.js");'),
  },
  criteria: [
    { id: "AC-1", description: "the tests pass", type: "jest", script: "tests/total.test.js", timeout_seconds: 120 },
  ],
  honest: { "files/src/total.js": summingCommon },
};

export const jestCommand: World = { ...jest, id: "jest-command", criteria: [command("AC-1", "jest")] };

export const RUNNER_WORLDS = [vitestWorld, vitestProject, jest, jestCommand];
