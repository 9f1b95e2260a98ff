// Figures for Prometheus, on this machine only.
import { createServer } from "node:http";
import { NutError } from "../errors.js";
import type { Fleet } from "./fleet.js";
import { WORK } from "./names.js";
import type { FleetWorker } from "./worker.js";

interface Figure {
  readonly name: string;
  readonly kind: "gauge" | "counter";
  readonly about: string;
  readonly value: number;
}

/** Ends with the signal. Throws WEB_PORT_TAKEN. */
export async function serveMetrics(
  { fleet, worker, now }: { readonly fleet: Fleet; readonly worker: FleetWorker; readonly now: () => Date },
  port: number,
  signal: AbortSignal,
): Promise<number> {
  const server = createServer((request, response) => {
    // A page in a browser has no business here: a name that leads to this machine is not this machine's name.
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    const isOurs = host === "127.0.0.1" || host === "localhost";
    if (!isOurs || request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(isOurs ? 404 : 421).end();
      return;
    }
    figures(fleet, worker, now()).then(
      (all) => response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(format(all)),
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE"
          ? new NutError("WEB_PORT_TAKEN", `port ${port} is taken`, {
              hint: "nexus fleet work --metrics 0 takes a free one",
            })
          : error,
      ),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  server.unref();
  signal.addEventListener("abort", () => server.close(), { once: true });
  return (server.address() as { readonly port: number }).port;
}

async function figures(fleet: Fleet, { tally, active }: FleetWorker, now: Date): Promise<Figure[]> {
  const { state } = await fleet.jsm.streams.info(WORK);
  const age = state.messages === 0 ? 0 : Math.max(0, (now.getTime() - Date.parse(String(state.first_ts))) / 1_000);
  const gauge = (name: string, about: string, value: number): Figure => ({ name, kind: "gauge", about, value });
  const counter = (name: string, about: string, value: number): Figure => ({
    name: `${name}_total`,
    kind: "counter",
    about,
    value,
  });
  return [
    gauge("queue_tickets", "jobs queued or at work, of the whole fleet", state.messages),
    gauge("queue_age_seconds", "age of the oldest of them", age),
    gauge("active", "jobs at work here", active),
    counter("done", "jobs delivered from here", tally.delivered),
    counter("failed", "jobs that failed here", tally.failed),
    counter(
      "retried",
      "jobs handed back or lost from here, for another worker to go on with",
      tally.handedBack + tally.discarded,
    ),
    counter("tokens", "tokens of delivered jobs", tally.tokens),
    counter("cost_usd", "cost of delivered jobs in US dollars", tally.costUsd),
  ];
}

const format = (all: readonly Figure[]): string =>
  all
    .map(({ name, kind, about, value }) => {
      const full = `nutcracker_fleet_${name}`;
      return `# HELP ${full} ${about}\n# TYPE ${full} ${kind}\n${full} ${value}\n`;
    })
    .join("");
