import { NutError } from "../errors.js";
import type { HttpAnswer } from "./http.js";

export interface MarketRefusal {
  readonly status: number;
  /** The daemon's code where it has one (`reward_too_low`), else empty. */
  readonly code: string;
  readonly message: string;
  readonly balance?: number;
  readonly required?: number;
}

/** Reads any of the daemon's three error shapes: structured JSON, JSON sent as text, bare words. */
export function readRefusal({ status, body }: Pick<HttpAnswer, "status" | "body">): MarketRefusal {
  const text = body.toString("utf8").trim();
  const parsed = parseObject(text);
  if (parsed === null) {
    // The daemon puts messages into JSON without escaping, so what looks like JSON may not parse.
    const inner = /^\{"error":"(.*)"\}$/s.exec(text)?.[1];
    return { status, code: "", message: (inner ?? text).slice(0, 500) || `status ${status}` };
  }
  const error = typeof parsed.error === "string" ? parsed.error : "";
  const message = typeof parsed.message === "string" && parsed.message !== "" ? parsed.message : error;
  const suggestion = typeof parsed.suggestion === "string" ? `; ${parsed.suggestion}` : "";
  return {
    status,
    code: /^[a-z_]+$/.test(error) ? error : "",
    message: (message || `status ${status}`) + suggestion,
    ...(typeof parsed.balance === "number" ? { balance: parsed.balance } : {}),
    ...(typeof parsed.required === "number" ? { required: parsed.required } : {}),
  };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

interface Refused {
  /** What was asked for. */
  readonly what: string;
  /** The command that shows what the daemon knows. */
  readonly look: string;
}

/** Turns an answer that is not 200 into the refusal a person reads. */
export function refused(answer: HttpAnswer, base: URL, { what, look }: Refused): NutError {
  if (answer.status === 401) return successor(base);
  if (answer.status >= 300 && answer.status < 400) {
    return new NutError(
      "MARKET_STRANGER",
      `${base.origin} redirects to another address, which a ClawNet daemon never does`,
      {
        hint: "check what listens there, or name the daemon: --clawnet host:port",
      },
    );
  }
  const refusal = readRefusal(answer);
  return new NutError("MARKET_REFUSED", `the daemon refused to ${what}: ${refusal.message}`, {
    hint: `${look} shows what the daemon knows`,
    data: { ...refusal },
  });
}

/** The successor network listens on the same port, wants a token and means other things by the same words. */
export function successor(base: URL): NutError {
  return new NutError(
    "MARKET_SUCCESSOR",
    `an AgentNetwork (anet) daemon answers at ${base.origin}; nutshell speaks to ClawNet daemons up to 1.0`,
    { hint: "point --clawnet at a ClawNet daemon" },
  );
}
