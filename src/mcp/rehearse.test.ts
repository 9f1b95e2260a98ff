import { PassThrough } from "node:stream";
import { Server } from "@modelcontextprotocol/server";
import { expect, it } from "vitest";
import type { Context } from "../operation.js";
import { rehearse } from "./rehearse.js";
import { serve } from "./server.js";

it("has every conversation answered to its end", async () => {
  const asked: string[] = [];
  await rehearse(() => {
    const server = new Server({ name: "x", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => {
      asked.push("tools/list");
      return { tools: [] };
    });
    return server;
  });
  expect(asked).toEqual(["tools/list", "tools/list"]);
});

const HELLO = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 7, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
});

/** A server that is asked, at once or when it has looked twice who it is, and all it said. */
async function asked({ rehearsed }: { rehearsed: boolean }) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const aside: string[] = [];
  let looks = 0;
  const env = new Proxy({} as Record<string, string | undefined>, {
    get: (_, name) => {
      if (name === "NEXUS_ROLE") looks += 1;
      return undefined;
    },
  });
  const context = { env, cwd: "/", signal: new AbortController().signal } as unknown as Context;
  const served = serve({ context, stdin, stdout, onError: ({ message }) => aside.push(message) });
  if (rehearsed) await expect.poll(() => looks, { timeout: 20_000 }).toBe(2);
  const before = { looks, said: String(stdout.read() ?? "") };
  stdin.end(`${HELLO}\n`);
  await served;
  return { before, said: String(stdout.read() ?? ""), aside, looks };
}

it("is done by a server nobody asks, which says nothing of it and answers as any other", async () => {
  const [late, early] = [await asked({ rehearsed: true }), await asked({ rehearsed: false })];
  expect(late.before).toEqual({ looks: 2, said: "" });
  expect(late.said).toBe(early.said);
  expect(late.said).toContain('"id":7');
  expect([...late.aside, ...early.aside]).toEqual([]);
  expect([late.looks, early.looks]).toEqual([3, 1]);
});
