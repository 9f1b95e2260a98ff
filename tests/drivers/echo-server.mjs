// The smallest MCP server: one tool that writes down what it was called with.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const reply = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === "initialize") {
    const { protocolVersion } = params;
    reply(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1.0.0" } });
  } else if (method === "tools/list") {
    appendFileSync(`${process.env.ECHO_FILE}.asked`, "");
    const inputSchema = { type: "object", properties: { text: { type: "string" } } };
    reply(id, { tools: ["echo", "forbidden"].map((name) => ({ name, description: name, inputSchema })) });
  } else if (method === "tools/call") {
    appendFileSync(process.env.ECHO_FILE, `${params.name} ${params.arguments.text}\n`);
    reply(id, { content: [{ type: "text", text: `heard ${params.arguments.text}` }] });
  } else if (method === "ping") reply(id, {});
  else
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } })}\n`,
    );
}
