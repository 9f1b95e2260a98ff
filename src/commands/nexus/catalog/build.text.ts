import { command } from "../../../cli/command.js";
import { count, green, red } from "../../../cli/text.js";
import { build } from "./build.js";
import { coreFlag } from "./core-flag.js";

export default command(build, {
  flags: { core: coreFlag, check: { about: "write nothing; exit 1 when something is out of date" } },
  about: ["Run it after changing a body, a meta.yml or the vocabulary. The same sources always give the same files."],
  examples: [
    ["nexus catalog build", "write what changed"],
    ["nexus catalog build --check", "for CI"],
  ],
  text: ({ changed, files, written }) => [
    ...changed.map((name) => (written ? `wrote ${name}` : `${red("out of date")}  ${name}`)),
    ...(changed.length === 0 ? [`${green("up to date")}  ${count(files, "file")}`] : []),
  ],
  exit: ({ changed, written }) => (written || changed.length === 0 ? 0 : 1),
});
