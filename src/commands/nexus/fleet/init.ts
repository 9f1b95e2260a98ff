import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { count, green, yellow } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { layOut, saveSettings, serverConfig, withServer } from "../../../fleet/index.js";
import { FLEET_VERSION, FleetSettings } from "../../../schema/fleet.js";
import { aboutFleet, asTyped } from "./about-fleet.js";
import { FLEET_FLAGS, settingsOf } from "./fleet-flags.js";
import { readDuration, readLimits } from "./words.js";

const DEFAULT_TENANT = "team";

export default aboutFleet(
  command({
    name: "fleet init",
    summary: "set a NATS server up for a fleet, or bring it up to date",
    input: z.object({
      lease: flag(z.string().default("20s"), {
        value: "<time>",
        about: "a worker that is silent for this long loses its job (2s to 5m; default: 20s)",
      }),
      retain: flag(z.string().default("30d"), {
        value: "<time>",
        about: "what is not written to for this long goes: jobs, bundles, events (default: 30d)",
      }),
      replicas: flag(z.coerce.number().int().min(1).max(5).optional(), {
        value: "<n>",
        about: "copies of everything (default: 3 in a cluster, 1 on a server alone)",
      }),
      budget: flag(z.array(z.string()).default([]), {
        value: "<limits>",
        about: "what may be begun and spent in a day (UTC), such as jobs=200,tokens=5M,cost=40; none: no limit",
      }),
      printConfig: flag(z.boolean().default(false), {
        about: "print a server's accounts and permissions for submitters, workers and watchers; change nothing",
      }),
      tenant: flag(z.array(z.string().regex(/^[A-Za-z][\w-]{0,30}$/)).default([]), {
        value: "<name>",
        about: `with --print-config: an account for each (default: ${DEFAULT_TENANT})`,
      }),
      ...FLEET_FLAGS,
    }),
    output: z.object({
      server: z.string().nullable(),
      streams: z.array(z.object({ name: z.string(), replicas: z.int(), made: z.boolean() })),
      settings: FleetSettings.nullable(),
      config: z.string().nullable().describe("with --print-config"),
      next: z.string().nullable().describe("what to type then"),
    }),
    about: [
      "Makes what a fleet needs on a server with JetStream, from 2.9 on: a queue, records of jobs and workers, stores for bundles and runs, events. Doing it again changes what was said anew and empties nothing.",
      "Tenants are accounts of the server, which keeps them apart: run it once with each tenant's admin.",
    ],
    examples: [
      ["nexus fleet init --server nats://127.0.0.1:4222", "a fleet on this machine's server"],
      ["nexus fleet init --print-config --tenant red --tenant blue > nats.conf", "two tenants that never meet"],
      ["nexus fleet init --retain 7d --budget jobs=500,cost=100", "a week, and no more than that a day"],
    ],
    async run(input, context) {
      const settings: FleetSettings = {
        version: FLEET_VERSION,
        lease_ms: readDuration("--lease", input.lease, { least: 2_000, most: 300_000 }),
        keep_ms: readDuration("--retain", input.retain, { least: 3_600_000, most: 3650 * 86_400_000 }),
        limits: readLimits(input.budget),
      };
      if (input.printConfig) {
        const tenants = input.tenant.length === 0 ? [DEFAULT_TENANT] : input.tenant;
        const version = await versionOf(input, context);
        return { server: null, streams: [], settings: null, config: serverConfig({ tenants, version }), next: null };
      }
      if (input.tenant.length > 0) {
        throw new NutError("USAGE", "--tenant goes with --print-config: a tenant is an account of the server", {
          hint: "nexus fleet init --user red-admin --password-file red.txt sets up the account that user is in",
        });
      }
      const server = await settingsOf(input, context);
      return withServer(server, { name: "nexus fleet init", patient: false }, async (nc, jsm) => {
        const { lease_ms: leaseMs, keep_ms: keepMs } = settings;
        const streams = await layOut(jsm, {
          keepMs,
          leaseMs,
          replicas: input.replicas,
          isCluster: nc.info?.cluster !== undefined,
        });
        await saveSettings(nc, settings);
        const work = asTyped("nexus fleet work", input);
        const next = `${work} on every machine that should work, ${asTyped("nexus fleet submit", input)} task.nut from any`;
        return { server: server.servers.join(", "), streams, settings, config: null, next };
      });
    },
    text({ server, streams, config, next }) {
      if (config !== null) return config.trimEnd().split("\n");
      const made = streams.filter((one) => one.made).length;
      const replicas = Math.min(...streams.map((one) => one.replicas));
      return [
        `${green("✓")} ${server}: ${made === 0 ? "was set up before, and is up to date" : `${count(made, "stream")} made`}`,
        replicas === 1
          ? yellow(
              "one copy of everything: what this server loses is lost (fleet reconcile hands in again what it forgot)",
            )
          : `${count(replicas, "copy", "copies")} of everything`,
        `next: ${next}`,
      ];
    },
  }),
);

/** Of the server that is named; null when none is, or it does not answer: then the words suit an old one. */
async function versionOf(input: Parameters<typeof settingsOf>[0], context: Parameters<typeof settingsOf>[1]) {
  try {
    const server = await settingsOf(input, context);
    return await withServer(
      server,
      { name: "nexus fleet init", patient: false },
      async (nc) => nc.info?.version ?? null,
    );
  } catch (error) {
    if (error instanceof NutError && error.code.startsWith("FLEET_")) return null;
    throw error;
  }
}
