// Spans as OTLP/JSON: what a collector takes at /v1/traces, and what a file for one holds.
import { type Span, type TraceInput, traceId, type Value } from "./trace.js";

const INTERNAL = 1;
const ERROR = 2;

export function otlp(spans: readonly Span[], { run }: Pick<TraceInput, "run">, version: string) {
  return {
    resourceSpans: [
      {
        resource: { attributes: pairs({ "service.name": "nexus", "service.version": version }) },
        scopeSpans: [
          {
            scope: { name: "nutcracker", version },
            spans: spans.map((span) => ({
              traceId: traceId(run),
              spanId: span.id,
              ...(span.parent === undefined ? {} : { parentSpanId: span.parent }),
              name: span.name,
              kind: INTERNAL,
              startTimeUnixNano: nanoseconds(span.start),
              endTimeUnixNano: nanoseconds(Math.max(span.start, span.end)),
              attributes: pairs({
                ...span.attributes,
                ...(span.error === undefined ? {} : { "error.type": span.error }),
              }),
              events: span.events.map(({ at, name, attributes }) => ({
                timeUnixNano: nanoseconds(at),
                name,
                attributes: pairs(attributes),
              })),
              status: span.error === undefined ? {} : { code: ERROR, message: span.error },
            })),
          },
        ],
      },
    ],
  };
}

/** Too large for a JSON number, so OTLP writes it as text. */
const nanoseconds = (ms: number) => `${BigInt(Math.round(ms)) * 1_000_000n}`;

const pairs = (attributes: Readonly<Record<string, Value>>) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));

function anyValue(value: Value) {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
