// Our tools over MCP, spoken by hand: the demo agent needs three messages of the protocol, and starting a library for
// them would be most of its work.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Tools {
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  close(): void;
}

interface Reply {
  readonly id?: number;
  readonly result?: { readonly structuredContent?: unknown; readonly content?: readonly { readonly text?: string }[] };
  readonly error?: { readonly message: string };
}

/** null when the harness offers no tools. */
export async function openTools(configPath: string | undefined): Promise<Tools | null> {
  if (configPath === undefined) return null;
  const { mcpServers = {} } = JSON.parse(readFileSync(configPath, "utf8")) as {
    mcpServers?: Record<string, { command: string; args: string[]; env: Record<string, string> }>;
  };
  const server = Object.values(mcpServers)[0];
  if (server === undefined) return null;
  const child = spawn(server.command, server.args, {
    env: { ...process.env, ...server.env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const rpc = connect(child);
  await rpc.request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "nutcracker-demo-agent", version: "1" },
  });
  rpc.notify("notifications/initialized");
  return {
    call: async (name, args) => {
      const { result, error } = await rpc.request("tools/call", { name, arguments: args });
      if (error !== undefined) throw new Error(`${name}: ${error.message}`);
      return result?.structuredContent ?? JSON.parse(result?.content?.[0]?.text ?? "null");
    },
    close: () => child.stdin?.end(),
  };
}

function connect(child: ChildProcess) {
  const waiting = new Map<number, (reply: Reply) => void>();
  let buffer = "";
  let last = 0;
  const fail = () => {
    for (const answer of waiting.values()) answer({ error: { message: "the tool server is gone" } });
    waiting.clear();
  };
  child.once("exit", fail);
  child.once("error", fail);
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    buffer += text;
    const lines = buffer.split("\n");
    buffer = lines.pop() ?? "";
    for (const line of lines) {
      if (line.trim() === "") continue;
      const reply = JSON.parse(line) as Reply;
      if (reply.id === undefined) continue;
      waiting.get(reply.id)?.(reply);
      waiting.delete(reply.id);
    }
  });
  const send = (message: object) => child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    notify: (method: string) => send({ method }),
    request: (method: string, params: object) =>
      new Promise<Reply>((resolve) => {
        last += 1;
        waiting.set(last, resolve);
        send({ id: last, method, params });
      }),
  };
}
