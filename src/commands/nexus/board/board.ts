import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { contextOf } from "../../../cli/io.js";
import { interrupted, portFlag, readPort, ServingAnswer, tell } from "../../../cli/serving.js";
import { NutError, shellWord } from "../../../errors.js";
import { type FleetFeed, serveBoard } from "../../../web/board/board.js";
import judge from "../../nutshell/acceptance/judge.js";
import { FLEET_FLAGS, fleetWords } from "../fleet/server-flags.js";

const DEFAULT_PORT = 8090;

export default rawCommand({
  name: "board",
  summary: "watch plans, tasks, agents, runs and a fleet in the browser",
  input: z.object({
    project: flag(z.array(z.string()).default([]), { value: "<dir>", about: "a project to watch (default: here)" }),
    port: portFlag(DEFAULT_PORT),
    write: flag(z.boolean().default(false), {
      about: "let the page act: decide, answer, judge, start, pause, cancel and resume runs",
    }),
    fleet: flag(z.boolean().default(false), { about: "show a fleet as well: its queue, its workers, its runs" }),
    ...FLEET_FLAGS,
  }),
  about: [
    "Shows plans, tasks, agents, runs and what was denied, over every harness and project, as it happens.",
    "With --fleet also jobs and workers of the fleet that the flags, NATS_URL or .nexus/config.yml name; whoever may watch it may.",
    "Listens on this machine only and prints a link that lets one browser in. Changes nothing unless started with --write, and nothing of a fleet at all. Ctrl-C ends it.",
  ],
  examples: [
    ["nexus board", "watch this project"],
    ["nexus board --project ../api --project ../web", "watch two projects"],
    ["nexus board --write", "also act from the page"],
    ["nexus board --fleet", "watch a fleet"],
  ],
  output: ServingAnswer,
  async run(input, io, asked) {
    const { project, port: wanted, write } = input;
    const projects = project.length === 0 ? [io.cwd] : project.map((folder) => resolve(io.cwd, folder));
    const gone = projects.find((folder) => !existsSync(folder));
    if (gone !== undefined) throw new NutError("FILE_NOT_FOUND", `${gone}: no such folder`, { hint: "nexus board" });
    const typedFleet = fleetWords(input);
    if (!input.fleet && typedFleet.length > 0) {
      throw new NutError("USAGE", `${typedFleet[0]!.split(" ")[0]} says where a fleet is, and none was asked for`, {
        hint: `nexus board --fleet ${typedFleet.join(" ")}`,
      });
    }
    const say = tell(asked, io);
    const show = async (fleet: FleetFeed | null): Promise<number> => {
      const { gate, port, closed } = await serveBoard({
        projects: [...new Set(projects)],
        port: readPort(wanted, DEFAULT_PORT, "nexus board"),
        write,
        fleet,
        env: io.env,
        signal: io.signal,
        now: io.now,
        command: "nexus board",
        startAgain: [
          "nexus board",
          ...project.map((folder) => `--project ${shellWord(folder)}`),
          ...(wanted === undefined ? [] : [`--port ${shellWord(wanted)}`]),
          ...(write ? ["--write"] : []),
          ...(input.fleet ? ["--fleet", ...typedFleet] : []),
        ].join(" "),
        onLink: say.next,
        onError: say.error,
        judge: (judging, context) => judge.run(judge.input.parse(judging), context),
      });
      say.link(gate.link, port);
      await closed;
      return interrupted(io);
    };
    if (!input.fleet) return show(null);
    // The client of the server is loaded for this alone.
    const { withFleetFeed } = await import("./fleet-feed.js");
    return withFleetFeed(
      input,
      contextOf(io, asked.json, () => {}),
      show,
    );
  },
});
