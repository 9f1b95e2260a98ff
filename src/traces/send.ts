// Spans on their way to a collector. Who runs the collector has set the address and the headers; the headers are secret.
import { NutError } from "../errors.js";

const PATIENCE_MS = 10_000;

export interface Collector {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** From the environment OpenTelemetry has named for it; null when nobody asks for spans. Throws for an address that is none. */
export function collectorOf(env: Readonly<Record<string, string | undefined>>): Collector | null {
  if ((env.OTEL_SDK_DISABLED ?? "").toLowerCase() === "true") return null;
  const whole = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? "";
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT ?? "";
  if (whole === "" && base === "") return null;
  const headers = { ...headersIn(env.OTEL_EXPORTER_OTLP_HEADERS), ...headersIn(env.OTEL_EXPORTER_OTLP_TRACES_HEADERS) };
  return { url: whole === "" ? tracesAt(base) : checked(whole), headers };
}

/** `http://127.0.0.1:4318` → `http://127.0.0.1:4318/v1/traces`. */
export function tracesAt(base: string): string {
  const url = new URL(checked(base));
  if (!url.pathname.endsWith("/v1/traces")) url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/traces`;
  return url.href;
}

function checked(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url.href;
  throw new NutError("USAGE", "a collector is reached over http or https, and this is no such address", {
    hint: "such as http://127.0.0.1:4318 (OTLP over http with JSON)",
  });
}

/** `key=value,key2=value2`, percent-encoded, as W3C baggage is. */
function headersIn(text = ""): Record<string, string> {
  const parts = text.split(",").map((part) => part.split("=", 2).map((word) => word.trim()));
  return Object.fromEntries(
    parts.flatMap(([key = "", value]) =>
      key === "" || value === undefined ? [] : [[key.toLowerCase(), decoded(value)]],
    ),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Throws TRACE_REFUSED, in words that hold no header. */
export async function sendSpans(body: unknown, { url, headers }: Collector, signal?: AbortSignal): Promise<void> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const { origin } = new URL(url);
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
      signal: signal === undefined ? patience : AbortSignal.any([patience, signal]),
    });
    await answer.body?.cancel();
    if (answer.ok) return;
    throw refused(origin, `it answered ${answer.status}`);
  } catch (error) {
    if (error instanceof NutError) throw error;
    throw refused(origin, patience.aborted ? "it did not answer" : "it cannot be reached");
  }
}

const refused = (origin: string, why: string) =>
  new NutError("TRACE_REFUSED", `the collector at ${origin} took no spans: ${why}`, {
    hint: "it must take OTLP over http with JSON at /v1/traces, port 4318 by default",
    data: { origin },
  });
