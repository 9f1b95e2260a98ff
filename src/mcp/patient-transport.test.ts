import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Context } from "../operation.js";
import { serve } from "./server.js";

/** What the server answers to these lines, and what it says aside. */
async function exchange(...lines: readonly string[]) {
  const stdout = new PassThrough();
  const aside: string[] = [];
  const context = { env: {}, cwd: "/", signal: new AbortController().signal } as unknown as Context;
  const stdin = Readable.from([Buffer.from(lines.map((line) => `${line}\n`).join(""))]);
  await serve({ context, stdin, stdout, onError: ({ message }) => aside.push(message) });
  return { out: String(stdout.read() ?? ""), aside };
}

const call = (id: number, params: unknown) => JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
const HELLO = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
});

describe("a message of another shape", () => {
  it("is refused in plain words, not in those of a validator", async () => {
    const wrong = [[], "x", null].map((given, index) => call(10 + index, { name: "task_list", arguments: given }));
    const { out, aside } = await exchange(HELLO, ...wrong, call(20, { name: 5 }), call(21, 5), "not json");
    expect(out.match(/"id":1[012]/g)).toHaveLength(3);
    expect(out).toContain("Invalid tools/call request: its parameters are of another shape");
    expect(out + aside.join("\n")).not.toMatch(/expected|received|invalid_type|\[\n/);
    expect(aside).toContain("not a JSON-RPC message");
  });
});
