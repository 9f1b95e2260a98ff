import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { here } from "./here.js";
import { call, environment, root, start } from "./program.js";
import { helloRequest, put, scratch, sweep } from "./scripted.js";

let cwd: string;
let server: Server | undefined;
beforeEach(() => {
  cwd = join(scratch(), "project");
  mkdirSync(cwd);
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});
afterAll(sweep);

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Something on this machine that listens, and what it heard. */
async function listener(status = 200): Promise<{ readonly origin: string; readonly posts: Post[] }> {
  const posts: Post[] = [];
  server = createServer(async (request, response) => {
    posts.push({ url: request.url ?? "", headers: request.headers, body: await text(request) });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posts };
}

const SECRET = "what the model said";
const LINE = [
  `echo '{"nexus_event":"message","text":"${SECRET}"}'`,
  `echo '{"nexus_event":"tool_call","id":"1","tool":"edit","input":{"a":1}}'`,
  `echo '{"nexus_event":"usage","input_tokens":90,"output_tokens":10,"cost_usd":0.25}'`,
  "echo hello world > files/hello.txt; echo done",
].join("; ");
const agent = (line: string) => ["--driver", "command", "--command", `sh -c '${line.replaceAll("'", "'\\''")}'`];

const request = () =>
  helloRequest(join(cwd, ".."), {
    acceptance: { criteria_file: "tests/criteria.json" },
    extensions: { nexus: { plan: { tasks: [{ title: "Greet", owner: "engineer" }] } } },
  });

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
  readonly events: readonly { name: string }[];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}
const spansIn = (json: string): OtlpSpan[] => JSON.parse(json).resourceSpans[0].scopeSpans[0].spans;
const attribute = (span: OtlpSpan, key: string) =>
  Object.values(span.attributes.find((one) => one.key === key)!.value)[0];

describe("a run", () => {
  it("is told to a collector while it works, to those the project names, and exported as the same spans later", async () => {
    const { origin, posts } = await listener();
    put(cwd, {
      ".nexus/config.yml": `notify:\n  - url: ${origin}/hook\n  - url: ${origin}/topic\n    format: ntfy\n    on: [end]\n`,
    });
    const host = new URL(origin).host;
    const env = environment(cwd, {
      OTEL_EXPORTER_OTLP_ENDPOINT: origin,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
      NEXUS_NOTIFY_TOKENS: `other.example.org=tk_0,${host}=tk_1`,
    });
    const ran = await start(cwd, ["run", request(), ...agent(LINE), "-o", "out.nut"], env).done;
    expect(ran.status, ran.stderr + ran.stdout).toBe(0);
    const traced = posts.filter(({ url }) => url === "/v1/traces");
    expect(traced.length).toBeGreaterThan(0);
    expect(traced[0]!.headers["x-key"]).toBe("a b");
    const live = traced.flatMap(({ body }) => spansIn(body));
    expect(live.map(({ name }) => name).sort()).toEqual([
      "chat",
      "execute_tool edit",
      "invoke_agent engineer",
      "invoke_workflow nexus run",
    ]);
    const of = (name: string) => live.find((span) => span.name.startsWith(name))!;
    expect(of("invoke_agent").parentSpanId).toBe(of("invoke_workflow").spanId);
    expect(of("execute_tool").parentSpanId).toBe(of("invoke_agent").spanId);
    expect(attribute(of("invoke_agent"), "nutcracker.usage.total_tokens")).toBe("100");
    expect(attribute(of("invoke_workflow"), "nutcracker.outcome")).toBe("completed");
    expect(of("invoke_workflow").events.map(({ name }) => name)).toEqual(["gen_ai.evaluation.result"]);
    expect(live.every(({ startTimeUnixNano: from, endTimeUnixNano: to }) => BigInt(from) <= BigInt(to))).toBe(true);
    // What was said stays here unless somebody asks for it.
    expect(JSON.stringify(traced)).not.toContain(SECRET);

    const told = posts.filter(({ url }) => url === "/hook" || url === "/topic");
    expect(told.map(({ url }) => url).sort()).toEqual(["/hook", "/topic"]);
    const hook = told.find(({ url }) => url === "/hook")!;
    expect(JSON.parse(hook.body)).toMatchObject({ type: "end", title: "Say hello", outcome: "completed" });
    expect(hook.headers.authorization).toBe("Bearer tk_1");
    const topic = told.find(({ url }) => url === "/topic")!;
    expect(topic.headers.title).toBe("nexus: end");
    expect(topic.body).toMatch(/^Say hello: completed\n/);

    const written = await here("nexus", cwd, ["export", "out.nut", "--otlp", "-o", "spans.json"]);
    expect(written.status, written.stderr).toBe(0);
    const later = spansIn(readFileSync(join(cwd, "spans.json"), "utf8"));
    const key = ({ traceId, spanId, name }: OtlpSpan) => `${traceId} ${spanId} ${name}`;
    expect(later.map(key).sort()).toEqual(live.map(key).sort());
    const [id] = readdirSync(join(cwd, ".nexus/state/nutcracker/runs"));
    const sent = await start(cwd, ["export", id!, "--otlp", "--to", origin, "--content", "--json"]).done;
    expect(JSON.parse(sent.stdout)).toMatchObject({ to: `${origin}/v1/traces`, spans: 4 });
    expect(posts.at(-1)!.body).toContain(SECRET);

    const atif = await here("nexus", cwd, ["export", id!, "--atif", "--content"]);
    expect(atif.status, atif.stderr).toBe(0);
    const trajectory = JSON.parse(readFileSync(join(cwd, `${id}.trajectory.json`), "utf8"));
    expect(trajectory).toMatchObject({ schema_version: "ATIF-v1.7", session_id: id, agent: { name: "nexus/command" } });
    expect(trajectory.steps.map(({ step_id: at }: { step_id: number }) => at)).toEqual([1, 2, 3, 4]);
    expect(trajectory.steps.map(({ source }: { source: string }) => source)).toEqual([
      "user",
      "agent",
      "agent",
      "agent",
    ]);
    expect(trajectory.steps[2].tool_calls[0].function_name).toBe("edit");
    expect(trajectory.steps[2].observation.results[0].source_call_id).toBe(
      trajectory.steps[2].tool_calls[0].tool_call_id,
    );
    expect(trajectory.final_metrics).toMatchObject({ total_cost_usd: 0.25, total_steps: 4 });
  });

  it("is not held up by a collector or a receiver that says no, and says so once without the path", async () => {
    const { origin } = await listener(500);
    put(cwd, { ".nexus/config.yml": `notify:\n  - url: ${origin}/secret-topic\n` });
    const env = environment(cwd, { OTEL_EXPORTER_OTLP_ENDPOINT: origin });
    const ran = await start(cwd, ["run", request(), ...agent("exit 1"), "-o", "out.nut"], env).done;
    expect(ran.status).toBe(1);
    expect(ran.stdout).toContain("paused");
    expect(ran.stderr.match(/took no spans: it answered 500/g)).toHaveLength(1);
    expect(ran.stderr).toContain("was not told of the run's question: it answered 500");
    expect(ran.stderr).not.toContain("secret-topic");
    const gone = call("nexus", cwd, [
      "export",
      readdirSync(join(cwd, ".nexus/state/nutcracker/runs"))[0]!,
      "--otlp",
      "--to",
      "http://127.0.0.1:9",
    ]);
    expect(gone.status).toBe(2);
    expect(gone.stderr).toContain("cannot be reached");
  });

  it.each([
    ["http://example.org/hook", "must be https"],
    ["https://user:pass@example.org/hook", "without a name or password"],
  ])("tells nobody at %s", async (url, why) => {
    put(cwd, { ".nexus/config.yml": `notify:\n  - url: ${url}\n` });
    const ran = await here("nexus", cwd, ["run", request(), ...agent(LINE)]);
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain(why);
    expect(existsSync(join(cwd, ".nexus/state"))).toBe(false);
  });

  it("is exported in one form, and only where it was made", async () => {
    writeFileSync(join(cwd, "x.nut"), "x");
    for (const [args, why] of [
      [["x.nut"], "say one of --otlp and --atif"],
      [["x.nut", "--otlp"], "no run here made x.nut"],
      [["x.nut", "--atif", "--to", "http://127.0.0.1:1"], "--to goes with --otlp"],
    ] as const) {
      const ran = await here("nexus", cwd, ["export", ...args]);
      expect(ran.status).toBe(2);
      expect(ran.stderr).toContain(why);
    }
  });
});

describe("a request for Harbor", () => {
  it("carries its tree, its words and its checks, and rewards what passes them", async () => {
    const ran = await here("nutshell", cwd, [
      "export",
      join(root, "examples/1-bug-fix"),
      "--harbor",
      "-o",
      "task",
      "--json",
    ]);
    expect(ran.status, ran.stderr).toBe(0);
    const told = JSON.parse(ran.stdout);
    expect(told).toMatchObject({ checks: 2, image: "node:22-bookworm" });
    expect(told.not_carried_over.map(({ what }: { what: string }) => what)).toContain("constraints");
    const task = join(cwd, "task");
    expect(readdirSync(task).sort()).toEqual(["environment", "instruction.md", "task.toml", "tests"]);
    expect(existsSync(join(task, "environment/app/tests"))).toBe(false);
    expect(readFileSync(join(task, "instruction.md"), "utf8")).toContain("files/src/slug.mjs");
    const reward = (prepare: (app: string) => void, name: string) => {
      const [app, logs] = [join(cwd, name), join(cwd, `${name}-logs`)];
      cpSync(join(task, "environment/app"), app, { recursive: true });
      prepare(app);
      const env = {
        PATH: process.env.PATH,
        NUTSHELL_APP: app,
        NUTSHELL_TESTS: join(task, "tests"),
        NUTSHELL_LOGS: logs,
      };
      spawnSync("bash", [join(task, "tests/test.sh")], { env });
      return readFileSync(join(logs, "reward.txt"), "utf8").trim();
    };
    expect(reward(() => {}, "untouched")).toBe("0");
    const solve = (app: string) => cpSync(join(root, "tests/examples/solutions/1-bug-fix"), app, { recursive: true });
    expect(reward(solve, "solved")).toBe("1");
    // Tests an agent left there are not the ones that count.
    const cheat = (app: string) => put(app, { "tests/scripts/slug-ends.mjs": "process.exit(0)\n" });
    expect(reward(cheat, "cheated")).toBe("0");
  });

  it("takes one request, and writes over nothing", async () => {
    mkdirSync(join(cwd, "task"));
    const example = join(root, "examples/1-bug-fix");
    for (const [args, why] of [
      [[example, "--harbor", "-o", "task"], "is there already"],
      [[example, example, "--harbor"], "--harbor takes one request"],
      [[example, "--image", "debian"], "--image goes with --harbor"],
    ] as const) {
      const ran = await here("nutshell", cwd, ["export", ...args]);
      expect(ran.status, ran.stdout).toBe(2);
      expect(ran.stderr).toContain(why);
    }
  });
});
