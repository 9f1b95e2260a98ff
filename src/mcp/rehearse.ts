// The first question takes a server twenty milliseconds, because what answers it is built then; any other takes one or two. An agent's
// program asks its model nothing before it has that answer, and in a run the server has been there for a while when it asks. So a
// server that nobody has asked yet puts the first questions of the programs we know to itself, in both dialects of the protocol.
import { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { PatientTransport } from "./patient-transport.js";

const WHO = { name: "rehearsal", version: "0" };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": WHO,
  "io.modelcontextprotocol/clientCapabilities": {},
};

const CONVERSATIONS: readonly (readonly object[])[] = [
  [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: WHO },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list", params: {} },
  ],
  [
    { id: 1, method: "server/discover", params: { _meta: META } },
    { id: 2, method: "tools/list", params: { _meta: META } },
  ],
];

/** Resolves when everything was answered, to nobody. */
export async function rehearse(make: () => Server): Promise<void> {
  for (const messages of CONVERSATIONS) {
    const lines = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const nobody = new Writable({ write: (_chunk, _encoding, done) => done() });
    const transport = new PatientTransport(Readable.from([Buffer.from(lines.join(""))]), nobody);
    serveStdio(make, { transport, onerror: () => {} });
    await transport.closed;
  }
}
