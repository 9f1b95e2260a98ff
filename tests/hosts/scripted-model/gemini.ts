// Google's dialect: one route for streams, one for whole answers.
import type { ServerResponse } from "node:http";
import type { Conversation } from "./conversation.js";
import type { Item } from "./dialects.js";

type Loose = Record<string, unknown>;
const ROUTE = /:(streamGenerateContent|generateContent)$/;

const list = (value: unknown): Loose[] => (Array.isArray(value) ? (value as Loose[]) : []);

export function readGemini(path: string, body: Loose): Conversation | null {
  if (!ROUTE.test(path)) return null;
  const contents = list(body.contents);
  const from = contents.findLastIndex(({ role }) => role === "model") + 1;
  const own = list(body.tools).flatMap(({ functionDeclarations }) =>
    list(functionDeclarations).map(({ name }) => String(name)),
  );
  return {
    dialect: path.endsWith("streamGenerateContent") ? "streamGemini" : "answerGemini",
    system: JSON.stringify(body.systemInstruction ?? ""),
    last: JSON.stringify(contents.slice(from)),
    any: JSON.stringify(body),
    tools: own.map((name) => ({ name, own: name, namespace: null, kind: "function" })),
  };
}

function answer(items: readonly Item[], inputTokens: number): Loose {
  const parts = items.map((item) =>
    "text" in item ? { text: item.text } : { functionCall: { name: item.tool.own, args: item.args } },
  );
  const usageMetadata = { promptTokenCount: inputTokens, candidatesTokenCount: 10, totalTokenCount: inputTokens + 10 };
  const candidate = { content: { role: "model", parts }, finishReason: "STOP", index: 0 };
  return { candidates: [candidate], usageMetadata, modelVersion: "scripted" };
}

type Answer = (response: ServerResponse, body: Loose, items: readonly Item[], inputTokens: number) => void;

export const streamGemini: Answer = (response, _, items, inputTokens) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(answer(items, inputTokens))}\r\n\r\n`);
};

export const answerGemini: Answer = (response, _, items, inputTokens) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(answer(items, inputTokens)));
};
