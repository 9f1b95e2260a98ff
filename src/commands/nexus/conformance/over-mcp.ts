// The tools of one project, reached through the server's own streams: what a host sees, without starting a process.
import { PassThrough } from "node:stream";
import { PREFIX } from "../../../mcp/prefix.js";
import { serve } from "../../../mcp/server.js";
import type { Context } from "../../../operation.js";
import type { OpenDoor } from "./run-fixture.js";

interface Reply {
  readonly id: number;
  readonly result?: { isError?: boolean; structuredContent?: Record<string, unknown>; content: { text: string }[] };
  readonly error?: { message: string };
}

export function overMcp(contextOf: (root: string) => Context): OpenDoor {
  return async (root) => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const served = serve({ context: contextOf(root), stdin, stdout, onError: () => {} });
    const ask = asker(stdin, stdout);
    await ask("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "conformance", version: "1" },
    });
    stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return {
      async call(tool, params) {
        const { result, error } = await ask("tools/call", { name: `${PREFIX}${tool}`, arguments: params });
        if (result === undefined) return { value: { error: error?.message }, error: error?.message ?? "no result" };
        // Both forms must say the same: a host may show either to its model.
        const value = JSON.parse(result.content[0]!.text) as { error?: string };
        return { value, error: result.isError === true ? (value.error ?? "an error without a text") : null };
      },
      async close() {
        stdin.end();
        await served;
      },
    };
  };
}

function asker(stdin: PassThrough, stdout: PassThrough) {
  const waiting = new Map<number, (reply: Reply) => void>();
  let rest = "";
  let last = 0;
  stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const reply = JSON.parse(line) as Reply;
      waiting.get(reply.id)?.(reply);
      waiting.delete(reply.id);
    }
  });
  return (method: string, params: unknown): Promise<Reply> =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: last, method, params })}\n`);
    });
}
