import { rawCommand, type Values } from "../../../cli/command.js";
import type { Io } from "../../../cli/io.js";
import { interrupted, readPort, ServingAnswer, tell } from "../../../cli/serving.js";
import { NutError } from "../../../errors.js";
import { serveViewer } from "../../../web/view/viewer.js";

const DEFAULT_PORT = 8080;

export default rawCommand({
  positionals: [{ name: "bundle", about: "a .nut file or folder; two of them to compare", many: true }],
  flags: { port: { value: "<port>", about: `port on 127.0.0.1 (default: ${DEFAULT_PORT}; 0: any free one)` } },
  about: [
    "Shows a request or a delivery in the browser: task, documents, files, acceptance, decisions. With two bundles, also what changed between them.",
    "Listens on this machine only and prints a link that lets one browser in. Nothing is loaded from elsewhere; credentials are never shown. Ctrl-C ends it.",
  ],
  examples: [
    ["nutshell serve task.nut", "look at a bundle"],
    ["nutshell serve task.nut delivery.nut", "look at what came back, beside what was asked"],
    ["nutshell serve . --port 9000", "a folder that is being worked on: reload shows it as it is"],
  ],
  output: ServingAnswer,
  async run(values: Values, io: Io) {
    const sources = values.bundle as string[] | undefined;
    if (sources === undefined || sources.length === 0 || sources.length > 2) {
      throw new NutError("USAGE", "nutshell serve needs one bundle, or two to compare", {
        hint: "nutshell serve task.nut",
      });
    }
    const say = tell("nutshell", values, io);
    const { gate, port, closed } = await serveViewer({
      sources,
      cwd: io.cwd,
      port: readPort(values.port, DEFAULT_PORT, "nutshell serve"),
      signal: io.signal,
      now: io.now,
      command: `nutshell serve ${sources.join(" ")}`,
      onLink: say.next,
      onError: say.error,
    });
    say.link(gate.link, port);
    await closed;
    return interrupted(io);
  },
});
