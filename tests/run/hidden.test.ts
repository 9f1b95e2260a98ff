// A run of a request with hidden checks: the agents have nothing of them, and the delivery says that they were not run.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { here } from "./here.js";
import { runFolderOf } from "./program.js";
import { helloRequest, put, scratch, sweep } from "./scripted.js";

afterAll(sweep);

it("keeps hidden checks from the agents, and says that they were not run", async () => {
  const cwd = join(scratch(), "project");
  mkdirSync(cwd);
  const request = helloRequest(cwd, {}, { "tests/hidden.sh": "grep -q 'hello world' files/hello.txt\n" });
  put(cwd, {
    "hidden.json": JSON.stringify({ criteria: [{ id: "SECRET", type: "shell", script: "tests/hidden.sh" }] }),
  });
  const { recipient } = JSON.parse((await here("nutshell", cwd, ["keygen", "-o", "who.key", "--json"])).stdout);
  const hidden = await here("nutshell", cwd, ["hide", request, "-c", "hidden.json", "-r", recipient]);
  expect(hidden.status, hidden.stderr).toBe(0);
  expect(existsSync(join(request, "tests/hidden.sh"))).toBe(false);
  const work = "find . > files/seen.txt; echo hello world > files/hello.txt";
  const agent = `cat > /dev/null; [ "$NEXUS_ROLE" != engineer ] || { ${work}; }; echo "[passed] 1: files/hello.txt greets"; echo "VERDICT: pass"`;
  const ran = await here("nexus", cwd, [
    ...["run", request, "--plan", "default", "--driver", "command", "--command", `sh -c '${agent}'`, "-o", "out.nut"],
  ]);
  expect(ran.stdout + ran.stderr).toContain("hidden, not run");
  const seen = readFileSync(join(runFolderOf(cwd), "delivery/delivery/artifacts/files/seen.txt"), "utf8");
  expect(seen).toContain("files/hello.txt");
  expect(seen).not.toContain("hidden");
  expect((await here("nutshell", cwd, ["verify", "out.nut", "-r", request, "--rerun"])).status).toBe(1);
  const verified = await here("nutshell", cwd, ["verify", "out.nut", "-r", request, "--rerun", "-i", "who.key"]);
  expect(verified.stdout, ran.stdout + ran.stderr).toContain("verified: completed");
});
