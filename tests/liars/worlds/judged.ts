// Requests that a reviewer or a person has a say in.
import { command, script, type World } from "../table.js";
import { nodeScript, summing } from "./node.js";

/** One criterion, and one line of the checklist only a reader can judge. */
export const polite: World = {
  id: "polite",
  stack: "review",
  task: "Greet the world politely in files/hello.txt",
  files: {
    "context/requirements.md":
      "# Greet\n\nfiles/hello.txt says hello. The greeting must be polite: it has the word please in it.\n",
    "files/hello.txt": "nothing\n",
    "tests/hello.sh": "grep -q hello files/hello.txt\n",
  },
  criteria: [script("AC-1", "tests/hello.sh")],
  acceptance: { checklist: ["The greeting is polite"] },
  honest: { "files/hello.txt": "hello world, please come in\n" },
};

/** A criterion for a person. */
export const forPerson: World = {
  ...nodeScript,
  id: "for-person",
  criteria: [
    script("AC-1", "tests/total.mjs"),
    command("AC-2", "true", { auto_verifiable: false, description: "the names are good" }),
  ],
};

/** One criterion cannot be run here: its credential is nowhere. */
export const cannotRun: World = {
  ...nodeScript,
  id: "cannot-run",
  criteria: [
    script("AC-1", "tests/total.mjs"),
    {
      id: "AC-2",
      description: "the table is there",
      type: "sql_check",
      query: "SELECT 1",
      credential_ref: "nowhere",
      expected: { result: 1 },
    },
  ],
};

/** Only a check that holds before and after. */
export const guardOnly: World = {
  ...nodeScript,
  id: "guard-only",
  files: {
    "files/src/total.mjs": "export function total(prices) {\n  return 0;\n}\n",
    "tests/empty.mjs":
      'import assert from "node:assert/strict";\nimport { total } from "../files/src/total.mjs";\nassert.equal(total([]), 0);\n',
  },
  criteria: [command("AC-1", "node tests/empty.mjs")],
};

export const guardAndCannotRun: World = {
  ...guardOnly,
  id: "guard-and-cannot-run",
  criteria: [...guardOnly.criteria!, cannotRun.criteria![1]!],
};

/** What may be changed is said. */
export const constrained: World = {
  ...nodeScript,
  id: "constrained",
  files: { ...nodeScript.files, "files/prices.txt": "1\n2\n" },
  constraints: ["Change only files/src/total.mjs"],
  honest: { "files/src/total.mjs": summing },
};
