import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { rawCommand, type Values } from "../../../cli/command.js";
import type { Io } from "../../../cli/io.js";
import { interrupted, readPort, ServingAnswer, tell } from "../../../cli/serving.js";
import { NutError } from "../../../errors.js";
import { serveBoard } from "../../../web/board/board.js";
import { keptKey } from "../../../web/server/key.js";

const DEFAULT_PORT = 8090;

export default rawCommand({
  flags: {
    project: { value: "<dir>", many: true, about: "a project to watch (default: here)" },
    port: { value: "<port>", about: `port on 127.0.0.1 (default: ${DEFAULT_PORT}; 0: any free one)` },
    write: { about: "let the page decide issues, reopen tasks and answer a run's questions" },
  },
  about: [
    "Shows plans, tasks, agents, runs and what was denied, over every harness and project, as it happens.",
    "Listens on this machine only and prints a link that lets one browser in. Changes nothing unless started with --write. Ctrl-C ends it.",
  ],
  examples: [
    ["nexus board", "watch this project"],
    ["nexus board --project ../api --project ../web", "watch two projects"],
    ["nexus board --write", "also decide and answer from the page"],
  ],
  output: ServingAnswer,
  async run(values: Values, io: Io) {
    const named = (values.project as string[] | undefined) ?? [];
    const projects = named.length === 0 ? [io.cwd] : named.map((folder) => resolve(io.cwd, folder));
    const gone = projects.find((folder) => !existsSync(folder));
    if (gone !== undefined) throw new NutError("FILE_NOT_FOUND", `${gone}: no such folder`, { hint: "nexus board" });
    const say = tell("nexus", values, io);
    const key = keptKey(io.env);
    const { gate, port, closed } = await serveBoard({
      projects: [...new Set(projects)],
      port: readPort(values.port, DEFAULT_PORT, "nexus board"),
      write: values.write === true,
      signal: io.signal,
      now: io.now,
      command: "nexus board",
      ...(key === undefined ? {} : { key }),
      onLink: say.next,
      onError: say.error,
    });
    say.link(gate.link, port);
    await closed;
    return interrupted(io);
  },
});
