import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { interrupted, portFlag, readPort, ServingAnswer, tell } from "../../../cli/serving.js";
import { NutError, shellWord } from "../../../errors.js";
import { serveBoard } from "../../../web/board/board.js";
import judge from "../../nutshell/acceptance/judge.js";

const DEFAULT_PORT = 8090;

export default rawCommand({
  name: "board",
  summary: "watch plans, tasks, agents and runs in the browser",
  input: z.object({
    project: flag(z.array(z.string()).default([]), { value: "<dir>", about: "a project to watch (default: here)" }),
    port: portFlag(DEFAULT_PORT),
    write: flag(z.boolean().default(false), {
      about: "let the page act: decide, answer, judge, start, pause, cancel and resume runs",
    }),
  }),
  about: [
    "Shows plans, tasks, agents, runs and what was denied, over every harness and project, as it happens.",
    "Listens on this machine only and prints a link that lets one browser in. Changes nothing unless started with --write. Ctrl-C ends it.",
  ],
  examples: [
    ["nexus board", "watch this project"],
    ["nexus board --project ../api --project ../web", "watch two projects"],
    ["nexus board --write", "also act from the page"],
  ],
  output: ServingAnswer,
  async run({ project, port: wanted, write }, io, asked) {
    const projects = project.length === 0 ? [io.cwd] : project.map((folder) => resolve(io.cwd, folder));
    const gone = projects.find((folder) => !existsSync(folder));
    if (gone !== undefined) throw new NutError("FILE_NOT_FOUND", `${gone}: no such folder`, { hint: "nexus board" });
    const say = tell(asked, io);
    const { gate, port, closed } = await serveBoard({
      projects: [...new Set(projects)],
      port: readPort(wanted, DEFAULT_PORT, "nexus board"),
      write,
      env: io.env,
      signal: io.signal,
      now: io.now,
      command: "nexus board",
      startAgain: [
        "nexus board",
        ...project.map((folder) => `--project ${shellWord(folder)}`),
        ...(wanted === undefined ? [] : [`--port ${shellWord(wanted)}`]),
        ...(write ? ["--write"] : []),
      ].join(" "),
      onLink: say.next,
      onError: say.error,
      judge: (judging, context) => judge.run(judge.input.parse(judging), context),
    });
    say.link(gate.link, port);
    await closed;
    return interrupted(io);
  },
});
