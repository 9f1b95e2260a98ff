// An agent that breaks the protocol in the way its first argument says. It knows no library: whatever it sends is its own.
import { createInterface } from "node:readline";

const [, , way] = process.argv;
const line = (text) => process.stdout.write(`${text}\n`);
const send = (message) => line(JSON.stringify({ jsonrpc: "2.0", ...message }));
const update = (sessionUpdate, more = {}) =>
  send({ method: "session/update", params: { sessionId: "s", update: { sessionUpdate, ...more } } });
const say = (text) => update("agent_message_chunk", { content: { type: "text", text } });
const failure = (category, severity, title, actions = []) => ({
  _meta: { jetbrains: { air: { version: 1, sessionFailure: { category, severity, title, actions } } } },
});
const finish = (id, words, result = { stopReason: "end_turn" }) => {
  if (words !== "") say(words);
  send({ id, result });
};
const answers = [];

const opened = { protocolVersion: 1, agentCapabilities: {}, authMethods: [{ id: "gemini-api-key", name: "key" }] };
const model = { id: "model", currentValue: "a", options: [] };

/** What it does instead of answering as it should. Whatever is not named here is answered well. */
const WAYS = {
  "dies at once": { initialize: () => process.exit(3) },
  "dies with a word": {
    initialize: () => process.stderr.write("Error: needs Node 22\n", () => process.exit(1)),
  },
  "says nothing": { initialize: () => {} },
  "answers with a page": { initialize: () => line("<html>Bad gateway</html>") },
  "answers null": { initialize: ({ id }) => send({ id, result: null }) },
  "speaks another version": { initialize: ({ id }) => send({ id, result: { ...opened, protocolVersion: 99 } }) },
  "writes one endless line": {
    initialize: () => {
      const part = "x".repeat(1024 * 1024);
      let left = 64;
      const go = () => {
        while (left-- > 0) if (!process.stdout.write(part)) return process.stdout.once("drain", go);
      };
      go();
    },
  },
  "refuses the login": {
    "session/new": ({ id }) => send({ id, error: { code: -32000, message: "Authentication required" } }),
    authenticate: ({ id }) => send({ id, error: { code: -32603, message: "no", data: { details: "not this key" } } }),
  },
  "is silent at the login": {
    "session/new": ({ id }) => send({ id, error: { code: -32000, message: "Authentication required" } }),
    authenticate: () => {},
  },
  "opens a session without a name": { "session/new": ({ id }) => send({ id, result: { sessionId: 5 } }) },
  "has no such model": {
    "session/new": ({ id }) => send({ id, result: { sessionId: "s", configOptions: [null, model] } }),
    "session/set_config_option": ({ id }) => send({ id, error: { code: -32602, message: "not among the values" } }),
  },
  "dies in its turn": { "session/prompt": () => setTimeout(() => process.exit(0), 50) },
  "answers no answer": { "session/prompt": ({ id }) => send({ id, error: "boom" }) },
  "does not say how it ended": { "session/prompt": ({ id }) => finish(id, "half", {}) },
  "cancels by itself": {
    "session/prompt": ({ id }) => finish(id, "half", { stopReason: "cancelled" }),
  },
  "tells a limit as text": {
    "session/prompt": ({ id }) =>
      send({ id, error: { code: -32603, message: "Internal error", data: "429 rate limit; retry after 12 seconds" } }),
  },
  "ends with a failure in a field": {
    "session/prompt": ({ id }) => {
      update("session_info_update", failure("unknown", "warning", "a note"));
      update("session_info_update", failure("service", "warning", "attempt 1 of 3"));
      say("overloaded");
      send({ id, result: { stopReason: "end_turn", ...failure("service", "error", "try later") } });
    },
  },
  "tries again without end": {
    "session/prompt": () => update("session_info_update", failure("connection", "warning", "attempt 1")),
  },
  "sends what it likes": {
    "session/prompt": ({ id }) => {
      for (const odd of [null, 5, "x", [], {}, { content: null }, { toolCallId: 5, title: {}, content: 7 }])
        for (const kind of [null, "nothing", "agent_message_chunk", "tool_call", "usage_update", "session_info_update"])
          send({
            method: "session/update",
            params: { update: odd === null ? odd : { ...Object(odd), sessionUpdate: kind } },
          });
      for (const odd of ["null", "[]", "5", '"x"', "{}", '{"id":99,"result":{}}', "\u0000", "", "{"]) line(odd);
      send({ method: "session/update" });
      send({ method: "\u001b]0;heard\u0007" });
      say("all done");
      send({ id, result: { stopReason: "end_turn", usage: { inputTokens: -5, outputTokens: "many" } } });
      send({ id, result: { stopReason: "end_turn" } });
    },
  },
  floods: {
    "session/prompt": ({ id }) => {
      let left = 4_000;
      const go = () => {
        while (left-- > 0) if (!say("x".repeat(1_024))) return process.stdout.once("drain", go);
        send({ id, result: { stopReason: "end_turn" } });
      };
      go();
    },
  },
  "asks for what it may not have": {
    "session/prompt": ({ id }) => {
      const options = ["allow_once", "reject_once"].map((kind) => ({ optionId: kind, name: kind, kind }));
      const ask = (toolCall) =>
        send({
          id: `q${answers.length}-${toolCall.title}`,
          method: "session/request_permission",
          params: { sessionId: "s", toolCall: { toolCallId: toolCall.title, ...toolCall }, options },
        });
      ask({ title: "of no kind" });
      ask({ title: "of another kind", kind: "other" });
      ask({ title: "thinks aloud", kind: "think", content: [{ type: "diff", path: "/w/a", newText: "x" }] });
      ask({ title: "mcp__nx__nx_task_list", kind: "other" });
      ask({ title: "reads", kind: "read" });
      send({ id: "w", method: "fs/write_text_file", params: { sessionId: "s", path: "/tmp/x", content: "x" } });
      send({ id: "t", method: "terminal/create", params: { sessionId: "s", command: "true" } });
      setTimeout(() => finish(id, answers.join(" ")), 300);
    },
  },
};

createInterface({ input: process.stdin }).on("line", (text) => {
  const message = JSON.parse(text);
  const { id, method, result } = message;
  if (method === undefined) return answers.push(result?.outcome.optionId ?? "no");
  const own = WAYS[way][method];
  if (own !== undefined) return own(message);
  if (method === "initialize") return send({ id, result: opened });
  if (method === "session/new") return send({ id, result: { sessionId: "s" } });
  if (method === "session/prompt") return finish(id, "all done");
});
