import { command } from "../../../cli/command.js";
import { bold, count, dim, size, table } from "../../../cli/text.js";
import { DIR_OR_OUTPUT, dirAndOutput, LEVEL_FLAGS } from "../pack-flags.js";
import { compress } from "./compress.js";

export default command(compress, {
  positionals: [DIR_OR_OUTPUT],
  flags: { ...LEVEL_FLAGS, force: { about: "pack although something is missing" } },
  examples: [["nutshell compress --dir my-task -o my-task.nut --level best", "as small as gzip gets"]],
  input: dirAndOutput,
  text: (result) => [
    `${bold("Packed")} ${count(result.files, "file")} into ${result.path}`,
    ...table([
      ["  Size:", `${size(result.bytes)} ${dim(`(${size(result.original_bytes)} before, ${percent(result.ratio)})`)}`],
      ["  Context:", `about ${count(result.context_tokens, "token")} ${dim("(estimate)")}`],
      ["  Hash:", result.hash],
      ["  Content:", result.content_digest],
    ]),
    ...table(result.kinds.map(({ kind, files, bytes }) => [`  ${kind}`, count(files, "file"), dim(size(bytes))])),
  ],
});

const percent = (ratio: number) => `${(ratio * 100).toFixed(1)} %`;
