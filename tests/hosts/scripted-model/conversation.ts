// One shape for what four protocols send: Anthropic messages, OpenAI chat completions, OpenAI responses, Google's (gemini.ts).
import { readGemini } from "./gemini.js";

export interface OfferedTool {
  /** As the model would name it, with its namespace where there is one: `mcp__nexus/nx_task_add`. */
  readonly name: string;
  readonly own: string;
  readonly namespace: string | null;
  readonly kind: string;
}

export interface Conversation {
  readonly dialect: "answerMessages" | "answerChat" | "answerResponses" | "answerGemini" | "streamGemini";
  readonly system: string;
  readonly last: string;
  readonly any: string;
  readonly tools: readonly OfferedTool[];
}

type Loose = Record<string, unknown>;

export function readConversation(path: string, body: Loose): Conversation | null {
  const any = JSON.stringify(body);
  if (path.endsWith("/messages")) {
    const messages = list(body.messages);
    return {
      dialect: "answerMessages",
      system: text(body.system),
      last: text(tail(messages)),
      any,
      tools: list(body.tools).map((tool) => named(tool)),
    };
  }
  if (path.endsWith("/chat/completions")) {
    const messages = list(body.messages);
    const system = messages.filter(({ role }) => role === "system" || role === "developer");
    return {
      dialect: "answerChat",
      system: text(system),
      last: text(tail(messages)),
      any,
      tools: list(body.tools).map((tool) => named(tool.function as Loose)),
    };
  }
  if (path.endsWith("/responses")) {
    const input = Array.isArray(body.input) ? list(body.input) : [{ role: "user", content: body.input }];
    const system = input.filter(({ role }) => role === "system" || role === "developer");
    const offered = [...list(body.tools), ...input.flatMap(({ tools }) => list(tools))];
    return {
      dialect: "answerResponses",
      system: `${text(body.instructions)}\n${text(system)}`,
      last: text(tail(input)),
      any,
      tools: offered.flatMap((tool) => flattened(tool)),
    };
  }
  return readGemini(path, body);
}

const list = (value: unknown): Loose[] => (Array.isArray(value) ? (value as Loose[]) : []);

function named(tool: Loose, namespace: string | null = null): OfferedTool {
  const own = String(tool?.name ?? tool?.type ?? "");
  return {
    name: namespace === null ? own : `${namespace}/${own}`,
    own,
    namespace,
    kind: String(tool?.type ?? "function"),
  };
}

function flattened(tool: Loose): OfferedTool[] {
  return tool.type === "namespace" ? list(tool.tools).map((inner) => named(inner, String(tool.name))) : [named(tool)];
}

/** What came after the model last spoke or called. */
function tail(items: readonly Loose[]): Loose[] {
  const at = items.findLastIndex(
    ({ role, type }) => role === "assistant" || /_call$|^reasoning$/.test(String(type ?? "")),
  );
  return items.slice(at + 1);
}

/** Every string in a value, in order. */
function text(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(text).join("\n");
  if (typeof value === "object" && value !== null) return Object.values(value).map(text).join("\n");
  return "";
}
