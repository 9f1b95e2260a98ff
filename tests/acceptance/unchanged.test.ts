// A tree nobody worked on proves nothing, whatever its checks say.
import { afterEach, expect, it } from "vitest";
import { type Bench, bench } from "./room.js";

let made: Bench | undefined;
afterEach(() => made?.remove());

const criterion = { id: "works", description: "it works", type: "automated", script: "tests/check.sh" };
const files = (script: string) => ({ "tests/check.sh": `#!/bin/sh\n${script}\n`, "files/a.txt": "a\n" });

it("is incomplete when nothing was changed, though every check passes", async () => {
  made = bench([criterion], files("exit 0"), {});
  const report = await made.accept({ sandbox: "off" });
  expect(report).toMatchObject({ verdict: "incomplete", counts: { passed: 1, proven: 0 }, changes: [] });
  expect(report.results[0]).toMatchObject({ status: "passed", proves_nothing: true });
});

it("is incomplete when only the request's own tests were changed", async () => {
  made = bench([criterion], files("exit 1"), { "tests/check.sh": "#!/bin/sh\nexit 0\n" });
  const report = await made.accept({ sandbox: "off" });
  expect(report).toMatchObject({ verdict: "failed", counts: { passed: 0, proven: 0 } });
});

it("proves what passes with the change and fails without it", async () => {
  made = bench([criterion], files("grep -q b files/a.txt"), { "files/a.txt": "b\n" });
  const report = await made.accept({ sandbox: "off" });
  expect(report).toMatchObject({ verdict: "passed", counts: { passed: 1, proven: 1 } });
});

it("is incomplete when the change has nothing to do with the check", async () => {
  made = bench([criterion], files("exit 0"), { "files/b.txt": "b\n" });
  const report = await made.accept({ sandbox: "off" });
  expect(report).toMatchObject({ verdict: "incomplete", counts: { passed: 1, proven: 0 } });
});
