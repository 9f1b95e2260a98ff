import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { interrupted, portFlag, readPort, ServingAnswer, tell } from "../../../cli/serving.js";
import { NutError } from "../../../errors.js";
import { unsealed } from "../../../request/pack/sealed.js";
import { serveViewer } from "../../../web/view/viewer.js";
import { SEALED_IDENTITY } from "../flags.js";

const DEFAULT_PORT = 8080;

export default rawCommand({
  name: "serve",
  summary: "look at a bundle in the browser, or at two side by side",
  input: z.object({
    sources: positional(z.array(z.string()), {
      name: "bundle",
      about: "a .nut file or folder; two of them to compare",
    }),
    ...SEALED_IDENTITY,
    port: portFlag(DEFAULT_PORT),
  }),
  output: ServingAnswer,
  about: [
    "Shows a request or a delivery in the browser: task, documents, files, acceptance, decisions. With two bundles, or with a delivery whose request is near (beside it, here, or where a run took it from), also what changed between them.",
    "Listens on this machine only and prints a link that lets one browser in. Nothing is loaded from elsewhere; credentials are never shown. Ctrl-C ends it.",
  ],
  examples: [
    ["nutshell serve task.nut", "look at a bundle"],
    ["nutshell serve task.nut delivery.nut", "look at what came back, beside what was asked"],
    ["nutshell serve . --port 9000", "a folder that is being worked on: reload shows it as it is"],
  ],
  async run({ sources, identity, port: given }, io, asked) {
    if (sources.length > 2) {
      throw new NutError("USAGE", "nutshell serve needs one bundle, or two to compare", {
        hint: "nutshell serve task.nut",
      });
    }
    const say = tell(asked, io);
    const { gate, port, closed } = await serveViewer({
      sources,
      cwd: io.cwd,
      unseal: (path) => unsealed(path, identity, io),
      port: readPort(given, DEFAULT_PORT, "nutshell serve"),
      signal: io.signal,
      now: io.now,
      env: io.env,
      command: `nutshell serve ${sources.join(" ")}`,
      onLink: say.next,
      onError: say.error,
    });
    say.link(gate.link, port);
    await closed;
    return interrupted(io);
  },
});
