import { mkdtempSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { privateTmp } from "./sandbox.js";

describe("privateTmp", () => {
  it("keeps readable what the command names under the real /tmp, and nothing else", () => {
    const project = mkdtempSync("/tmp/nut-private-");
    const words = [
      `node "${project}/dist/agent.js" --x=${project}/y`,
      "/tmp/absent-nut/z",
      "/usr/bin:/tmp",
      `/bin:${project}/bin`,
    ];
    expect(privateTmp("/var/empty", words)).toEqual([
      { access: "writable", path: "/tmp", from: "/var/empty" },
      { access: "read-only", path: project },
    ]);
    rmSync(project, { recursive: true });
  });
});
