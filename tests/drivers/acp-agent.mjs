// An ACP agent that does what its first argument says, to show what is hard to make a real one do.
import { appendFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream, RequestError } from "@agentclientprotocol/sdk/unstable";

const [, , ability] = process.argv;
const note = (line) => appendFileSync(`${process.env.HOME}/notes`, `${JSON.stringify(line)}\n`);
let cancelled = () => {};
let loggedIn = false;

const say = (client, sessionId, text) =>
  client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  });

const options = ["allow_always", "allow_once", "reject_once"].map((kind, i) => ({
  optionId: `o${i}`,
  name: kind,
  kind,
}));

agent({ name: "stand-in" })
  .onRequest(methods.agent.initialize, ({ params }) => {
    note({ initialize: params.clientCapabilities });
    const sessionCapabilities = ability === "load" ? {} : { resume: {} };
    const authMethods = ability === "auth" ? ["browser", "gemini-api-key"].map((id) => ({ id, name: id })) : [];
    const agentInfo = ability === "auth" ? { name: "gemini-cli", version: "9.9.9" } : undefined;
    return {
      protocolVersion: 1,
      agentInfo,
      agentCapabilities: { loadSession: true, sessionCapabilities },
      authMethods,
    };
  })
  .onRequest(methods.agent.authenticate, ({ params }) => {
    note({ authenticate: params.methodId });
    loggedIn = true;
    return {};
  })
  .onRequest(methods.agent.session.new, ({ params }) => {
    note({ new: params, foo: process.env.FOO });
    if (ability === "auth" && !loggedIn) throw new RequestError(-32000, "Authentication required");
    return { sessionId: "acp-1" };
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    note({ resume: params.sessionId });
    return {};
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    note({ load: params.sessionId });
    await say(client, params.sessionId, "history");
    return {};
  })
  .onNotification(methods.agent.session.cancel, () => cancelled())
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId } = params;
    note({ prompt: params.prompt[0].text });
    if (ability === "crash") process.exit(9);
    if (ability === "loud") {
      const lines = [
        '{"jsonrpc":"2.0","id":"\\u001b]0;heard\\u0007","result":{}}',
        "\u001b[31mnoise",
        '{"half":',
        "[5]",
      ];
      await new Promise((resolve) => process.stdout.write(`${lines.join("\n")}\n`, resolve));
    }
    if (ability === "early") return { stopReason: "max_turn_requests" };
    if (ability === "hang") {
      await say(client, sessionId, "half");
      await new Promise((resolve) => (cancelled = resolve));
      return { stopReason: "cancelled" };
    }
    await say(client, sessionId, "let me see");
    for (const [kind, title] of [
      ["edit", "Edit a.txt"],
      ["execute", "ls"],
      ["read", "Read a.txt"],
      ["other", "nx_task_add"],
    ]) {
      const toolCall = { toolCallId: title, title, kind };
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: "tool_call", ...toolCall, status: "pending" },
      });
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall,
        options,
      });
      const status = outcome.optionId === "o1" ? "completed" : "failed";
      const content = kind === "edit" ? [{ type: "diff", path: "/w/a.txt", newText: "x" }] : [];
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: "tool_call_update", ...toolCall, status, content },
      });
    }
    await say(client, sessionId, "all ");
    await say(client, sessionId, "done");
    return { stopReason: "end_turn", usage: { totalTokens: 15, inputTokens: 10, outputTokens: 5 } };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
