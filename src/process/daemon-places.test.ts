import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bwrapAvailable, daemonCovers, javascriptEngine, runChild } from "./index.js";

const held = await bwrapAvailable(process.env);

let home: string;
let server: Server;
const socket = () => join(home, ".docker/run/docker.sock");
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "nut-daemons-")));
  mkdirSync(join(home, ".docker/run"), { recursive: true });
  writeFileSync(join(home, "kept"), "kept\n");
  server = createServer((asked) => asked.end("at your service"));
  await new Promise<void>((resolve) => server.listen(socket(), resolve));
});
afterEach(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

const ASK = `
require("node:net").connect(process.argv[1]).on("data", (text) => console.log(String(text))).on("error", (error) => console.log(error.code));
`;

const heldRun = (command: string, args: readonly string[]) =>
  runChild({
    ...{ command, args, cwd: home, env: { PATH: process.env.PATH } },
    sandbox: { root: "read-only", network: "host", mounts: daemonCovers({ HOME: home }, home) },
  });

describe.skipIf(!held)("a shell on a read-only file system (needs bwrap)", () => {
  it("asks no daemon to write for it", async () => {
    const { stdout } = await heldRun(javascriptEngine().command, ["-e", ASK, socket()]);
    expect(stdout.text).toBe("ENOENT\n");
  });

  it("finds no sockets of the machine, and the folder it works in", async () => {
    const { stdout } = await heldRun("sh", [
      "-c",
      "find /run /tmp -type s | wc -l; ls /tmp; cat kept; cat /etc/resolv.conf >/dev/null && echo names",
    ]);
    expect(stdout.text.split("\n")).toEqual(["0", home.split("/")[2], "kept", "names", ""]);
  });
});
