// A model that says what a test tells it to, in the dialects the three hosts speak. Each rule looks at a request and answers
// it; the first that fits wins, and a rule is used up after `times`. Every request is kept, so that a test can see what
// really reached the model.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Conversation, readConversation } from "./conversation.js";
import { answerChat, answerMessages, answerResponses, type Item } from "./dialects.js";
import { answerGemini, streamGemini } from "./gemini.js";

export interface Rule {
  readonly name: string;
  /** All given patterns must fit. `last` = everything since the model spoke; `any` = the whole request. */
  readonly when?: {
    readonly system?: RegExp;
    readonly last?: RegExp;
    readonly any?: RegExp;
    readonly not?: RegExp;
    readonly tool?: RegExp;
  };
  readonly times?: number;
  /** Fits only requests that offer no tools; other rules fit only those that do. */
  readonly bare?: boolean;
  readonly reply: readonly Reply[] | ((conversation: Conversation) => readonly Reply[]);
  /** Tokens the request is said to have cost: how a host is made to compact. */
  readonly inputTokens?: number;
  /**
   * hang never answers; cut ends the connection in the middle of an answer; any other text is an error the client must not
   * try again. An answer of a server in trouble says its status itself.
   */
  readonly fail?: "hang" | "cut" | string | Trouble;
}

export interface Trouble {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** As it is sent: need not be JSON. */
  readonly body?: string;
}

/** Words, a call of the first offered tool whose name fits, or of one that need not be offered at all. */
export type Reply =
  | string
  | { readonly tool: RegExp; readonly args: Record<string, unknown> | string }
  | { readonly unoffered: string; readonly namespace?: string; readonly args: Record<string, unknown> };

export interface SeenRequest extends Conversation {
  readonly rule: string;
}

export interface ScriptedModel {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Names of rules used, in order. */
  used(): string[];
  close(): Promise<void>;
}

/** Programs also ask for titles and the like, and offer no tools then; that is no turn of the conversation. */
const ASIDE: Rule = { name: "aside", bare: true, reply: ["A title"] };

export async function scriptedModel(rules: readonly Rule[]): Promise<ScriptedModel> {
  const all = [...rules, ASIDE];
  const left = all.map(({ times }) => times ?? Number.POSITIVE_INFINITY);
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const path = (request.url ?? "").split("?")[0]!;
    if (request.method !== "POST" || body === null)
      return sendJson(response, request.method === "GET" ? 200 : 404, { object: "list", data: [], models: [] });
    if (path.endsWith("/count_tokens")) return sendJson(response, 200, { input_tokens: 100 });
    const conversation = readConversation(path, body);
    if (conversation === null) return sendJson(response, 404, { error: { message: `no such route: ${path}` } });
    const index = all.findIndex((rule, i) => left[i]! > 0 && fits(rule, conversation));
    const rule = all[index] ?? { name: "otherwise", reply: ["nothing was scripted for this"] };
    if (index >= 0) left[index]! -= 1;
    requests.push({ ...conversation, rule: rule.name });
    if (rule.fail === "hang") return;
    if (rule.fail === "cut") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": here it ends\n\n", () => response.destroy());
      return;
    }
    if (typeof rule.fail === "object") {
      const { status, headers = {}, body: sent = troubleBody(status) } = rule.fail;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      return response.end(sent);
    }
    if (rule.fail !== undefined) return sendJson(response, 400, { error: { message: rule.fail, type: "invalid" } });
    const replies = typeof rule.reply === "function" ? rule.reply(conversation) : rule.reply;
    const answer = { answerMessages, answerChat, answerResponses, answerGemini, streamGemini }[conversation.dialect];
    answer(
      response,
      body,
      replies.map((reply) => itemFor(reply, conversation)),
      rule.inputTokens ?? 100,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    used: () => requests.map(({ rule }) => rule).filter((rule) => rule !== ASIDE.name),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function fits({ when = {}, bare = false }: Rule, { system, last, any, tools }: Conversation): boolean {
  if (bare !== (tools.length === 0)) return false;
  if (when.system !== undefined && !when.system.test(system)) return false;
  if (when.last !== undefined && !when.last.test(last)) return false;
  if (when.any !== undefined && !when.any.test(any)) return false;
  if (when.not?.test(any) === true) return false;
  return when.tool === undefined || tools.some(({ name }) => when.tool!.test(name));
}

function itemFor(reply: Reply, { tools }: Conversation): Item {
  if (typeof reply === "string") return { text: reply };
  if ("unoffered" in reply) {
    const { unoffered: own, namespace = null, args } = reply;
    return { tool: { name: own, own, namespace, kind: "function" }, args };
  }
  const tool = tools.find(({ name }) => reply.tool.test(name));
  if (tool === undefined) return { text: `the model has no tool like ${reply.tool}` };
  return { tool, args: reply.args };
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown> | null> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    return null;
  }
}

/** What the vendors' servers say with a status: the two dialects agree on where the words are. */
function troubleBody(status: number): string {
  const [type, message] = TROUBLES[status] ?? ["api_error", `the server says ${status}`];
  return JSON.stringify({ type: "error", error: { type, code: type, message } });
}

const TROUBLES: Readonly<Record<number, readonly [type: string, message: string]>> = {
  401: ["authentication_error", "the token is not valid any more"],
  403: ["permission_error", "this account may not use the model"],
  429: ["rate_limit_error", "too many requests for this account"],
  500: ["api_error", "something broke inside"],
  529: ["overloaded_error", "overloaded"],
};

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
