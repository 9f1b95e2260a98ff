// What each program says when its vendor is in the way, word for word as the versions of tests/hosts/clients.json say it.
import { describe, expect, it } from "vitest";
import { newTranscript, sessionEnd } from "./agent-process.js";
import { listener } from "./claude.js";
import { hear as hearCodex } from "./codex.js";
import { hearLog, hear as hearOpencode } from "./opencode.js";
import { retryAfter, troubleOf, waitIn, withoutPage } from "./trouble.js";

const NOON = new Date(2026, 2, 14, 12, 0, 0);
const EXIT = { reason: "exited", code: 1, signal: null, durationMs: 1, leftBehind: 0 } as const;
const DONE = { ...EXIT, code: 0 };

describe("what an error is about", () => {
  it.each([
    ["unexpected status 401 Unauthorized: the token is not valid any more, url: http://h/v1", "login"],
    ["unexpected status 403 Forbidden: this account may not use the model", "login"],
    ["exceeded retry limit, last status: 429 Too Many Requests", "limit"],
    ["You’ve hit your usage limit. Upgrade to Pro or try again at 9:10 PM.", "limit"],
    ["API Error: Request rejected (429) · too many requests for this account", "limit"],
    ["We’re currently experiencing high demand, which may cause temporary errors.", "overload"],
    ["API Error: 529 overloaded", "overload"],
    ["stream disconnected before completion: stream closed before response.completed", "transport"],
    ["API Error: Connection to the API was lost (ECONNRESET). This is usually temporary", "transport"],
    ["API Error: JSON Parse error: Unrecognized token '<'", "transport"],
    ["Internal error: 401 the token is not valid any more", "login"],
    ['{"error":{"message":"quiet","code":503,"status":"Unavailable"}}', "overload"],
    ["Incomplete JSON segment at the end", "transport"],
    ["Internal error: terminated", "transport"],
    ["the process was terminated by its watcher", null],
    ["No conversation found with session ID: 00000000", "session"],
    ["thread/resume failed: no rollout found for thread id 0 (code -32600)", "session"],
    ['API Error: 200 {"type":"error","error":{"type":"overloaded_error","message":"please wait"}}', "overload"],
    ['{"type":"error","error":{"type":"timeout_error","message":"x"}}', "transport"],
    ["\u001b[31mAPI Error: 529\u001b[39m \u001b[2mtry later\u001b[22m", "overload"],
    ["\u001b[1mRate\u001b[22m limit reached", "limit"],
    ["To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.", "login"],
    ["unexpected status 404 Not Found: Not found", "transport"],
    ["unexpected status 409 Conflict: another request is at work", "transport"],
    ["unexpected status 407 Proxy Authentication Required: proxy authentication required", "transport"],
    // A page in the vendor's place is somebody on the way; what it says is about no login.
    [
      "unexpected status 403 Forbidden: <!DOCTYPE html>\n<html><body>Please log in</body></html>, url: http://h",
      "transport",
    ],
    ["unexpected status 404 Not Found: <html><title>Not here</title></html>, url: http://h/v1", "transport"],
    ["unexpected status 401 Unauthorized: <html><title>Log in</title></html>, url: http://h/v1", "login"],
    ["unexpected status 503 Service Unavailable: <html></html>, url: http://h/v1", "overload"],
    ["There's an issue with the selected model (x). It may not exist or you may not have access to it.", "model"],
    ["unexpected status 404 Not Found: model: claude-sonnet-99, url: http://127.0.0.1/v1/responses", "model"],
    ["The model `gpt-9.9-x` does not exist or you do not have access to it.", "model"],
    ['{"detail":"The \'gpt-x\' model is not supported when using Codex with a ChatGPT account."}', "model"],
    ['{"error":{"message":"Project `p` may not use it","code":"model_not_found"},"status":403}', "model"],
    ["models/gemini-9 is not found for API version v1beta", "model"],
    ["no such model", "model"],
    ["the model's file does not exist", null],
    ["'temperature' is not supported with this model", null],
    ["credit is used up by turns", null],
    ["the patch is too long (500 lines are allowed)", null],
    ["the prompt exceeds the token limit of the model's context window", null],
  ])("%s", (words, kind) => {
    expect(troubleOf({ words })?.kind ?? null).toBe(kind);
  });

  it("believes a status before words", () => {
    expect(troubleOf({ status: 429, words: "authentication" })?.kind).toBe("limit");
    expect(troubleOf({ status: 400, words: "no such tool" })).toBeNull();
    expect(troubleOf({ status: 403, words: "Access Denied", isPage: true })?.kind).toBe("transport");
    expect(troubleOf({ status: 403, words: "no such model" })?.kind).toBe("model");
    expect(troubleOf({ status: 429, words: "no such model" })?.kind).toBe("limit");
    // A request that was read and refused is no broken connection; an empty purse is still a limit.
    expect(troubleOf({ status: 400, words: "could not decode the image" })).toBeNull();
    expect(troubleOf({ status: 400, words: "Your credit balance is too low" })?.kind).toBe("limit");
  });

  it.each<[string, number | undefined]>([
    ["try again in 2 hours 5 minutes.", 125 * 60_000],
    ["Please retry after 30 seconds", 30_000],
    ["or try again at 1:10 PM.", 70 * 60_000],
    ["limit reached · resets 11am", 23 * 3_600_000],
    ["or try again at Mar 16th, 2026 12:00 PM.", 48 * 3_600_000],
    ["try again later", undefined],
    // As OpenAI writes it.
    ["Please try again in 6m0s.", 360_000],
    ["Please try again in 1h30m5.5s.", 5_405_500],
    ["Please try again in 120ms.", 120],
    ["please try again in 1.242s", 1_242],
    ["try again after 2026-03-16T13:00:00.000Z", Date.UTC(2026, 2, 16, 13) - NOON.getTime()],
    ["limit reached|1773700000", 1_773_700_000_000 - NOON.getTime()],
    // Over already: it may be tried now.
    ["limit reached|1700000000", 0],
    ["or try again at Mar 13th, 2026 12:00 PM.", 0],
  ])("%s is a wait", (words, ms) => {
    expect(waitIn(words, NOON)).toBe(ms);
  });

  it("reads a clock where it says that it stands", () => {
    const now = new Date("2026-03-14T12:00:00Z");
    expect(waitIn("resets 2pm (UTC)", now)).toBe(2 * 3_600_000);
    expect(waitIn("resets 2:30pm (Asia/Kolkata)", now)).toBe(21 * 3_600_000);
    expect(waitIn("resets at 5:30pm (Asia/Kolkata)", now)).toBe(0);
    expect(waitIn("resets 2pm (nowhere in particular)", now)).toBeGreaterThanOrEqual(0);
    expect(waitIn("resets Mar 20, 2pm (UTC)", now)).toBe((6 * 24 + 2) * 3_600_000);
  });

  it("reads retry-after as seconds or as a date", () => {
    expect(retryAfter("2")).toBe(2_000);
    expect(retryAfter(new Date(NOON.getTime() + 60_000).toUTCString(), NOON)).toBe(60_000);
    expect(retryAfter("Mon, 01 Jan 2024 00:00:00 GMT", NOON)).toBe(0);
    expect([retryAfter("soon"), retryAfter(undefined), retryAfter("")]).toEqual([undefined, undefined, undefined]);
  });
});

describe("a page in an error", () => {
  it("is told by its title", () => {
    const page = "<!DOCTYPE html>\n<html><head><title> Blocked </title></head>\n<body>x</body></html>";
    expect(withoutPage(`403 Forbidden: ${page}, url: h`)).toBe('403 Forbidden: a page, "Blocked", url: h');
    expect(withoutPage("403: <html><body>cut in the mid")).toBe("403: a page");
    expect(withoutPage("x < y, <htmlish>")).toBe("x < y, <htmlish>");
  });
});

describe("claude", () => {
  const retry = (attempt: number, status: number | null, error: string, delay = 500) => ({
    type: "system",
    subtype: "api_retry",
    attempt,
    max_retries: 10,
    retry_delay_ms: delay,
    error_status: status,
    error,
  });
  const end = (more: object) => ({ type: "result", subtype: "success", is_error: true, result: "", ...more });

  it("tells that it tries again; a login refused twice is given up at once", () => {
    const [transcript, events] = [newTranscript(), [] as unknown[]];
    const hear = listener(transcript, (event) => events.push(event));
    hear(retry(1, 529, "overloaded"));
    hear(retry(1, 401, "authentication_failed"));
    expect(events).toEqual([
      { type: "waiting", why: "overload", message: "overloaded (529)" },
      { type: "waiting", why: "login", message: "authentication failed (401)" },
    ]);
    expect(transcript.givenUp).toBe(false);
    hear(retry(2, 401, "authentication_failed"));
    expect(sessionEnd(transcript, { ...EXIT, reason: "stopped" }, "")).toMatchObject({
      outcome: "failed",
      error: "authentication failed (401)",
      trouble: { kind: "login" },
    });
  });

  it("counts every answer's tokens once, although the result that says it of all never comes", () => {
    const [transcript, events] = [newTranscript(), [] as unknown[]];
    const hear = listener(transcript, (event) => events.push(event));
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 2 };
    const says = (id: string) => ({ type: "assistant", message: { id, usage, content: [{ type: "text", text: id }] } });
    for (const line of [says("a"), says("a"), says("b")]) hear(line);
    expect(transcript.usage).toEqual({ inputTokens: 30, outputTokens: 4, cachedTokens: 10 });
    hear({ type: "result", result: "done", usage: { input_tokens: 31, output_tokens: 9 }, total_cost_usd: 0.5 });
    expect(transcript.usage).toMatchObject({ inputTokens: 31, outputTokens: 9, costUsd: 0.5 });
  });

  it.each([
    [
      "a limit, and when it ends",
      [
        { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: Date.now() / 1_000 + 3_600 } },
        end({ result: "You've hit your limit", terminal_reason: "api_error", api_error_status: 429 }),
      ],
      "limit",
    ],
    ["garbage", [end({ result: "API Error: JSON Parse error", terminal_reason: "api_error" })], "transport"],
    [
      "a proxy's page, of which 2.1.325 tells the title and no kind of error",
      [end({ result: "API Error: 403 Access Denied", terminal_reason: "api_error", api_error_status: 403 })],
      "transport",
    ],
    [
      "its vendor's 403, as 2.1.325 tells it",
      [
        end({
          ...{ result: "API Error: 403 x", terminal_reason: "api_error", api_error_status: 403 },
          api_error_type: "permission_error",
        }),
      ],
      "login",
    ],
    [
      "a 403 of which 2.1.200 tells no kind of error",
      [end({ result: "API Error: 403 x", terminal_reason: "completed", api_error_status: 403 })],
      "login",
    ],
    ["a 403 of which 2.1.48 tells words alone", [end({ result: "Failed. API Error: 403 {}" })], "login"],
    [
      "a lost session, from errors[]",
      [end({ subtype: "error_during_execution", errors: ["No conversation found with session ID: 1"] })],
      "session",
    ],
    ["a limit of its own turns", [end({ subtype: "error_max_turns" })], undefined],
    ["its budget", [end({ subtype: "error_max_budget_usd", errors: ["Reached maximum budget ($0)"] })], undefined],
  ])("hears %s", (_, lines, kind) => {
    const transcript = newTranscript();
    for (const line of lines) listener(transcript, () => {})(line as Record<string, unknown>);
    const { trouble, outcome } = sessionEnd(transcript, EXIT, "");
    expect([outcome, trouble?.kind]).toEqual(["failed", kind]);
    if (kind === "limit") expect(trouble!.retryAfterMs).toBeGreaterThan(3_500_000);
  });
});

describe("codex", () => {
  const note = (n: number, why: string) => ({ type: "error", message: `Reconnecting... ${n}/5 (${why})` });

  it("takes a note that it reconnects for no error once the turn completes", () => {
    const [transcript, events] = [newTranscript(), [] as unknown[]];
    for (const line of [
      note(1, "stream disconnected before completion"),
      note(2, "stream disconnected before completion"),
      { type: "item.completed", item: { id: "1", type: "agent_message", text: "all done" } },
      { type: "error", message: "something else that was got over" },
      { type: "turn.completed", usage: { input_tokens: 5, output_tokens: 1 } },
    ])
      hearCodex(line, transcript, (event) => events.push(event));
    expect(sessionEnd(transcript, DONE, "")).toMatchObject({ outcome: "completed", text: "all done" });
    expect(events).toContainEqual({
      type: "waiting",
      why: "transport",
      message: "stream disconnected before completion",
    });
  });

  it("hears that it waits for the network, which it does without end", () => {
    const [transcript, events] = [newTranscript(), [] as unknown[]];
    const message = "Reconnecting... waiting for network (Connection failed: error sending request)";
    hearCodex({ type: "error", message }, transcript, (event) => events.push(event));
    expect(events).toEqual([
      { type: "waiting", why: "transport", message: "Connection failed: error sending request" },
    ]);
    expect(transcript).toMatchObject({ error: null, waiting: { trouble: { kind: "transport" } } });
  });

  it("says what the turn failed of, and gives a refused login up", () => {
    const failed = newTranscript();
    hearCodex({ type: "turn.failed", error: { message: "last status: 429 Too Many Requests" } }, failed, () => {});
    expect(sessionEnd(failed, EXIT, "")).toMatchObject({ trouble: { kind: "limit" } });
    // What it passes on as its vendor sent it is said in the vendor's words.
    const raw = '{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low."}}';
    const broke = newTranscript();
    hearCodex({ type: "turn.failed", error: { message: raw } }, broke, () => {});
    expect(sessionEnd(broke, EXIT, "")).toMatchObject({
      error: "Your credit balance is too low.",
      trouble: { kind: "limit" },
    });
    const refused = newTranscript();
    hearCodex(note(2, "unexpected status 401 Unauthorized: no"), refused, () => {});
    expect(refused).toMatchObject({ givenUp: true, trouble: { kind: "login" } });
  });
});

describe("opencode", () => {
  it("reads the status and retry-after of its vendor's answer", () => {
    const transcript = newTranscript();
    const data = { message: "slow down", statusCode: 429, responseHeaders: { "retry-after": "9" } };
    hearOpencode({ type: "error", sessionID: "s", error: { name: "APIError", data } }, transcript, () => {});
    expect(sessionEnd(transcript, EXIT, "")).toMatchObject({
      error: "slow down",
      trouble: { kind: "limit", retryAfterMs: 9_000 },
    });
  });

  it("knows a proxy's page by its kind", () => {
    const transcript = newTranscript();
    const data = { message: "Not Found", statusCode: 404, responseHeaders: { "content-type": "text/html; charset=x" } };
    hearOpencode({ type: "error", sessionID: "s", error: { name: "APIError", data } }, transcript, () => {});
    expect(sessionEnd(transcript, EXIT, "").trouble).toEqual({ kind: "transport" });
  });

  it("hears in its log what an error means that only refers to it, whichever comes first", () => {
    const log = `timestamp=2026-11-18T04:06:05.850Z level=ERROR run=67759616 message=failed ref=err_1 error="ProviderModelNotFoundError: Model not found: s/nope." cause="…"`;
    const data = { message: "Unexpected server error. Check server logs for details.", ref: "err_1" };
    const error = { type: "error", sessionID: "s", error: { name: "UnknownError", data } };
    const told = (...lines: readonly (string | Record<string, unknown>)[]) => {
      const transcript = newTranscript();
      for (const line of lines) {
        if (typeof line === "string") hearLog(line, transcript, () => {});
        else hearOpencode(line, transcript, () => {});
      }
      const { error: words, trouble } = sessionEnd(transcript, EXIT, "");
      return [words, trouble?.kind];
    };
    const known = ["Model not found: s/nope.", "model"];
    expect([told(log, error), told(error, log)]).toEqual([known, known]);
    // Another error's line is not about this one.
    expect(told(log.replace("err_1", "err_2"), error)).toEqual([data.message, undefined]);
  });

  it("hears in its log that it tries again, of the turn and not of a title", () => {
    const [transcript, events] = [newTranscript(), [] as unknown[]];
    const line = (small: boolean) =>
      `level=ERROR message="stream error" small=${small} agent=build error.error="AI_APICallError: too many requests"`;
    hearLog(line(true), transcript, (event) => events.push(event));
    hearLog(line(false), transcript, (event) => events.push(event));
    expect(events).toEqual([{ type: "waiting", why: "limit", message: "too many requests" }]);
  });

  describe("with a conversation that is too long", () => {
    const hears = (...lines: readonly object[]) => {
      const transcript = newTranscript();
      for (const line of lines) hearOpencode({ sessionID: "s", ...line }, transcript, () => {});
      return transcript;
    };
    const data = { message: "prompt is too long: 210000 tokens > 200000 maximum" };
    const full = { type: "error", error: { name: "ContextOverflowError", data } };
    const step = { type: "step_finish", part: { reason: "stop", tokens: { output: 1 } } };
    const says = (words: string, more = {}) => ({ type: "text", part: { text: words, ...more } });
    const goesOn = says("Continue if you have next steps", {
      synthetic: true,
      metadata: { compaction_continue: true },
    });

    it("goes on once it is summed up, and what it then does counts", () => {
      const summary = [full, says("A summary"), step, goesOn];
      // Its exit still speaks of the error.
      expect(sessionEnd(hears(...summary, says("all done"), step), EXIT, "")).toMatchObject({
        outcome: "completed",
        text: "all done",
      });
      expect(sessionEnd(hears(...summary), EXIT, "")).toMatchObject({ outcome: "failed" });
      // The summary was not the end of its turn.
      expect(sessionEnd(hears(...summary), DONE, "")).toMatchObject({ outcome: "failed", text: "" });
    });

    it("is given up when that does not help, and that is about the work", () => {
      const again = [full, says("A summary"), step, goesOn];
      expect(hears(...again, ...again).givenUp).toBe(false);
      const call = { type: "tool_use", part: { tool: "read", state: {} } };
      expect(hears(...again, ...again, call, full).givenUp).toBe(false);
      const end = sessionEnd(hears(...again, ...again, full), { ...EXIT, reason: "stopped" }, "");
      expect([end.outcome, end.error, end.trouble]).toEqual(["failed", data.message, undefined]);
    });
  });

  it("gives up after three answers in a row that are none", () => {
    const transcript = newTranscript();
    const part = { reason: "unknown", tokens: { output: 0 } };
    for (let i = 0; i < 3; i += 1) hearOpencode({ type: "step_finish", sessionID: "s", part }, transcript, () => {});
    expect(transcript).toMatchObject({ givenUp: true, trouble: { kind: "transport" } });
  });
});

describe("lines of a shape nobody knows", () => {
  const ODD = [5, "text", {}, null, [null, 5, "x"], { type: 5 }];
  const shapes = (value: unknown) => [
    { type: "assistant", message: { content: value } },
    { type: "assistant", message: value },
    { type: "user", tool_use_result: value, message: { content: [{ type: "tool_result", content: value }] } },
    { type: "system", subtype: "init", session_id: value },
    { type: "system", subtype: "api_retry", error: value, error_status: value, attempt: value },
    { type: "rate_limit_event", rate_limit_info: value },
    { type: "result", permission_denials: value, usage: value, errors: value, result: value, is_error: value },
    { type: "thread.started", thread_id: value },
    { type: "turn.completed", usage: value },
    { type: "turn.failed", error: value },
    { type: "item.completed", item: value },
    { type: "item.completed", item: { type: "file_change", changes: value } },
    { type: "step_finish", part: value, sessionID: value },
    { type: "tool_use", part: { tool: value, state: value } },
    { type: "error", error: value, message: value },
    { type: value },
  ];

  it("end nobody's run", () => {
    for (const line of ODD.flatMap(shapes)) {
      const transcript = newTranscript();
      expect(() => listener(transcript, () => {})(line), JSON.stringify(line)).not.toThrow();
      expect(() => hearCodex(line, transcript, () => {}), JSON.stringify(line)).not.toThrow();
      expect(() => hearOpencode(line, transcript, () => {}), JSON.stringify(line)).not.toThrow();
    }
  });
});

describe("an end that nobody explains", () => {
  it("in the middle of a turn, or by a signal, is the way there and not the work", () => {
    expect(sessionEnd(newTranscript(), DONE, "")).toMatchObject({ trouble: { kind: "transport" } });
    const killed = { ...EXIT, code: null, signal: "SIGKILL" as const };
    expect(sessionEnd(newTranscript(), killed, "")).toMatchObject({ trouble: { kind: "transport" } });
    expect(sessionEnd(newTranscript(), EXIT, "unknown option --x").trouble).toBeUndefined();
  });
});
