// A model that says what a test tells it to, in the two dialects our agents speak: OpenAI responses and chat completions.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Reply =
  | { readonly say: string }
  | { readonly call: string; readonly with: object }
  | { readonly refuse: string };

export interface ScriptedModel {
  readonly url: string;
  /** Bodies of the requests so far, as the program sent them. */
  readonly requests: Record<string, unknown>[];
  /** Names of the tools offered in the last request that offered any. */
  tools(): string[];
  close(): void;
}

/** `script` gets the conversation's request and how many replies were given; null hangs until the program goes away. */
export async function scriptedModel(
  script: (request: Record<string, unknown>, turn: number) => Reply | null,
): Promise<ScriptedModel> {
  const requests: Record<string, unknown>[] = [];
  let turn = 0;
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(404).end();
    const body = await readBody(request);
    requests.push(body);
    // Programs ask for a title on the side; that is not a turn of the conversation.
    const aside = !offersTools(body);
    const reply = aside ? { say: "a title" } : script(body, turn++);
    if (reply === null) return;
    if ("refuse" in reply) {
      response.writeHead(400, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ error: { message: reply.refuse, type: "invalid_request_error" } }));
    }
    if (request.url?.includes("/responses")) answerResponses(response, reply);
    else answerChat(response, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    tools: () => toolNames(requests.findLast(offersTools)),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const offersTools = (body: Record<string, unknown>): boolean => Array.isArray(body.tools) && body.tools.length > 0;

function toolNames(body: Record<string, unknown> | undefined): string[] {
  const flat = (tool: Record<string, unknown>): string[] => {
    if (Array.isArray(tool.tools)) return tool.tools.flatMap(flat).map((name) => `${tool.name}.${name}`);
    return [String((tool.function as Record<string, unknown> | undefined)?.name ?? tool.name ?? tool.type)];
  };
  return ((body?.tools ?? []) as Record<string, unknown>[]).flatMap(flat);
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

let serial = 0;

type Answer = Exclude<Reply, { refuse: string }>;

function answerResponses(response: ServerResponse, reply: Answer): void {
  serial += 1;
  const send = (event: Record<string, unknown>) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const id = `resp_${serial}`;
  send({ type: "response.created", response: { id } });
  const [namespace, name] =
    "call" in reply && reply.call.includes(".")
      ? (reply.call.split(".") as [string, string])
      : [undefined, "call" in reply ? reply.call : ""];
  const item =
    "say" in reply
      ? { type: "message", id: `msg_${serial}`, role: "assistant", content: [{ type: "output_text", text: reply.say }] }
      : "input" in reply.with
        ? { type: "custom_tool_call", id: `ct_${serial}`, call_id: `call_${serial}`, name, ...reply.with }
        : {
            type: "function_call",
            id: `fc_${serial}`,
            call_id: `call_${serial}`,
            name,
            ...(namespace === undefined ? {} : { namespace }),
            arguments: JSON.stringify(reply.with),
          };
  send({ type: "response.output_item.done", output_index: 0, item });
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens: 5,
    output_tokens_details: null,
    total_tokens: 15,
  };
  send({ type: "response.completed", response: { id, output: [item], usage } });
  response.end();
}

function answerChat(response: ServerResponse, reply: Answer): void {
  serial += 1;
  const send = (delta: object, finish: string | null = null, usage?: object) =>
    response.write(
      `data: ${JSON.stringify({ id: `chat_${serial}`, object: "chat.completion.chunk", created: 0, model: "scripted", choices: [{ index: 0, delta, finish_reason: finish }], ...(usage === undefined ? {} : { usage }) })}\n\n`,
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  if ("say" in reply) send({ role: "assistant", content: reply.say });
  else {
    const call = {
      index: 0,
      id: `call_${serial}`,
      type: "function",
      function: { name: reply.call, arguments: JSON.stringify(reply.with) },
    };
    send({ role: "assistant", tool_calls: [call] });
  }
  send({}, "say" in reply ? "stop" : "tool_calls", { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
  response.end("data: [DONE]\n\n");
}
