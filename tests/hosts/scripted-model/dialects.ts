// Answers as the three protocols stream them, no more events than the clients need.
import type { ServerResponse } from "node:http";
import type { OfferedTool } from "./conversation.js";

export type Item =
  | { readonly text: string }
  | { readonly tool: OfferedTool; readonly args: Record<string, unknown> | string };
type Body = Record<string, unknown>;

const OUTPUT_TOKENS = 10;
let serial = 0;
const id = (prefix: string): string => `${prefix}_${String(++serial).padStart(6, "0")}`;

function stream(response: ServerResponse): (event: string | null, data: unknown) => void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  return (event, data) =>
    response.write(
      `${event === null ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`,
    );
}

export function answerMessages(
  response: ServerResponse,
  body: Body,
  items: readonly Item[],
  inputTokens: number,
): void {
  const blocks = items.map((item) =>
    "text" in item
      ? { type: "text", text: item.text }
      : { type: "tool_use", id: id("toolu"), name: item.tool.own, input: item.args },
  );
  const reason = blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  const usage = {
    input_tokens: inputTokens,
    output_tokens: OUTPUT_TOKENS,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  const message = {
    id: id("msg"),
    type: "message",
    role: "assistant",
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const send = stream(response);
  send("message_start", { type: "message_start", message });
  blocks.forEach((block, index) => {
    const start = block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
    const delta =
      "text" in block
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify("input" in block ? block.input : {}) };
    send("content_block_start", { type: "content_block_start", index, content_block: start });
    send("content_block_delta", { type: "content_block_delta", index, delta });
    send("content_block_stop", { type: "content_block_stop", index });
  });
  send("message_delta", { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage });
  send("message_stop", { type: "message_stop" });
  response.end();
}

export function answerChat(response: ServerResponse, body: Body, items: readonly Item[], inputTokens: number): void {
  const words = items.flatMap((item) => ("text" in item ? [item.text] : [])).join("");
  const calls = items
    .flatMap((item) => ("text" in item ? [] : [item]))
    .map(({ tool, args }, index) => ({
      index,
      id: id("call"),
      type: "function",
      function: { name: tool.own, arguments: JSON.stringify(args) },
    }));
  const reason = calls.length > 0 ? "tool_calls" : "stop";
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: OUTPUT_TOKENS,
    total_tokens: inputTokens + OUTPUT_TOKENS,
  };
  const head = { id: id("chat"), created: 0, model: body.model };
  const send = stream(response);
  const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
    send(null, {
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    });
  chunk({ role: "assistant", content: words });
  for (const call of calls) chunk({ tool_calls: [call] });
  chunk({}, reason, { usage });
  send(null, "[DONE]");
  response.end();
}

export function answerResponses(
  response: ServerResponse,
  body: Body,
  items: readonly Item[],
  inputTokens: number,
): void {
  const output = items.map((item) => {
    if ("text" in item)
      return {
        type: "message",
        id: id("msg"),
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: item.text, annotations: [] }],
      };
    const { tool, args } = item;
    const space = tool.namespace === null ? {} : { namespace: tool.namespace };
    if (tool.kind === "tool_search")
      return {
        type: "tool_search_call",
        id: id("tsc"),
        call_id: id("call"),
        execution: "client",
        arguments: args,
        status: "completed",
      };
    if (tool.kind === "custom")
      return {
        type: "custom_tool_call",
        id: id("ctc"),
        call_id: id("call"),
        name: tool.own,
        input: String(args),
        status: "completed",
        ...space,
      };
    return {
      type: "function_call",
      id: id("fc"),
      call_id: id("call"),
      name: tool.own,
      arguments: JSON.stringify(args),
      status: "completed",
      ...space,
    };
  });
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: OUTPUT_TOKENS,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + OUTPUT_TOKENS,
  };
  const full = {
    id: id("resp"),
    object: "response",
    created_at: 0,
    status: "completed",
    model: body.model,
    output,
    usage,
  };
  const send = stream(response);
  let sequence = 0;
  const emit = (type: string, more: object) => send(type, { type, sequence_number: sequence++, ...more });
  emit("response.created", { response: { ...full, status: "in_progress", output: [], usage: null } });
  output.forEach((item, index) => {
    emit("response.output_item.added", { output_index: index, item: { ...item, status: "in_progress" } });
    emit("response.output_item.done", { output_index: index, item });
  });
  emit("response.completed", { response: full });
  response.end();
}
