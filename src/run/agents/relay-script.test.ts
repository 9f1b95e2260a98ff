import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TOOL_SOCKET } from "../../schema/tools.js";
import { RELAY_SCRIPT } from "./relay-script.js";

const PERL = "/usr/bin/perl";

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-relay-"));
});
afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function relay(input: Buffer, socket: string) {
  const child = spawn(PERL, ["-e", RELAY_SCRIPT], { env: { [TOOL_SOCKET]: socket } });
  const heard: Buffer[] = [];
  let complaint = "";
  child.stdout.on("data", (chunk: Buffer) => heard.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise<{ code: number | null; output: Buffer; complaint: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, output: Buffer.concat(heard), complaint }));
  });
}

describe.skipIf(!existsSync(PERL))("what passes on to the tools (needs Perl)", () => {
  const listen = (socket: string, answer: Parameters<typeof createServer>[1]) =>
    new Promise<void>((resolve) => {
      server = createServer({ allowHalfOpen: true }, answer).listen(socket, resolve);
    });

  it("passes every byte on, however much waits on both sides, and ends with the server", async () => {
    const socket = join(folder, "socket");
    await listen(socket, (connection) => connection.pipe(connection));
    const input = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => index * 7));
    const { code, output } = await relay(input, socket);
    expect(code).toBe(0);
    expect(output.equals(input)).toBe(true);
  });

  it("brings an answer that comes after the last question", async () => {
    const socket = join(folder, "socket");
    await listen(socket, (connection) => {
      connection.resume();
      connection.once("end", () => connection.end("late\n"));
    });
    expect((await relay(Buffer.from("question\n"), socket)).output.toString()).toBe("late\n");
  });

  it("says when nobody is there", async () => {
    const { code, complaint } = await relay(Buffer.from("x"), join(folder, "nobody"));
    expect(code).not.toBe(0);
    expect(complaint).toMatch(/^nexus: the tools cannot be reached: No such file/);
  });
});
