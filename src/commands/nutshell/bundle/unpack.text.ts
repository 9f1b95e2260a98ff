import { command } from "../../../cli/command.js";
import { bold, count, dim, size, table, yellow } from "../../../cli/text.js";
import { LIMIT_FLAGS } from "../pack-flags.js";
import { unpack } from "./unpack.js";

export default command(unpack, {
  positionals: [{ name: "bundle", about: "a .nut file, or - for standard input" }],
  flags: {
    output: { short: "o", value: "<dir>", about: "folder to make (default: named after the file)" },
    identity: { short: "i", value: "<file>", about: "Ed25519 identity that opens a sealed bundle (default: your own)" },
    trust: {
      value: "<path>",
      many: true,
      about: "leave this root entry in its place although programs obey it (CLAUDE.md, .mcp.json…)",
    },
    ...LIMIT_FLAGS,
  },
  about: [
    "Everything is checked before the folder appears: paths, hashes, the manifest's list. Files that agents and editors obey without asking are set aside in quarantine/ unless --trust names them.",
  ],
  examples: [
    ["nutshell unpack task.nut", "into ./task"],
    ["nutshell unpack task.nut -o workspace --trust CLAUDE.md", "and keep its CLAUDE.md where agents find it"],
    ["nutshell unpack sealed.nut --identity me.key", "a bundle sealed for you"],
    ["cat task.nut | nutshell unpack - -o workspace", "from standard input"],
  ],
  text: (result) => [
    `${bold("Unpacked")} ${count(result.files, "file")} (${size(result.bytes)}) into ${result.dir}`,
    ...table([["  Content:", result.content_digest]]),
    ...result.quarantined.map((path) => `${yellow("set aside:")} quarantine/${path} ${dim(`(keep: --trust ${path})`)}`),
    ...result.findings.map(({ message }) => `${yellow("warning:")} ${message}`),
  ],
});
