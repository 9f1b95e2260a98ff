import { command } from "../../../cli/command.js";
import { bold, count, dim, size, table } from "../../../cli/text.js";
import { DIR_OR_OUTPUT, dirAndOutput, LEVEL_FLAGS } from "../pack-flags.js";
import { pack } from "./pack.js";

export default command(pack, {
  positionals: [DIR_OR_OUTPUT],
  flags: {
    ...LEVEL_FLAGS,
    force: { about: "pack although something is missing" },
    list: { about: "only say what would be packed" },
    peer: { value: "<peer>", about: "seal it for one peer: 64 hex digits or a 12D3KooW… peer id" },
    encrypt: { about: "seal it; implied by --peer" },
    allow: { value: "<path>", many: true, about: "pack this file although it looks like a secret" },
    "plain-vault": { about: "pack a vault that is not encrypted: anyone can read it" },
    "vault-identity": {
      value: "<file>",
      many: true,
      about: "age identity that opens the vault, to look for its values",
    },
  },
  about: [
    "The manifest goes first, with the hash of every file. .nutignore leaves files out, as .gitignore does; version control and harness state never go in.",
    "Every file is scanned for keys, tokens and the vault's own values on its way in. --allow lets a file through and is recorded in the manifest.",
  ],
  examples: [
    ["nutshell pack --dir my-task -o my-task.nut", "one file to hand over"],
    ["nutshell pack --dir my-task --list", "what would go in, and what stays out"],
    ["nutshell pack --dir my-task --peer 12D3KooW…", "sealed: only that peer can open it"],
    ["nutshell pack --dir my-task --compression zstd", "smaller and faster, where the receiver reads zstd"],
  ],
  input: dirAndOutput,
  text: (result) => {
    if (!result.packed) {
      const rows = (result.entries ?? []).map((entry) => [`  ${entry.path}`, dim(size(entry.size))]);
      const left = result.left.map(({ path, reason }) => [`  ${path}`, dim(reason)]);
      return [
        bold(`${count(result.files, "file")}, ${size(result.original_bytes)}`),
        ...table(rows),
        ...(left.length > 0 ? ["", bold("left out"), ...table(left)] : []),
      ];
    }
    return [
      `${bold("Packed")} ${count(result.files, "file")} into ${result.path}`,
      ...table([
        ["  Size:", `${size(result.bytes ?? 0)} ${dim(`(${size(result.original_bytes)} before)`)}`],
        ["  Hash:", result.hash ?? ""],
        ["  Content:", result.content_digest ?? ""],
        ...(result.sealed_for === undefined ? [] : [["  Sealed for:", result.sealed_for]]),
        ...(result.completeness === undefined ? [] : [["  Status:", result.completeness]]),
      ]),
    ];
  },
});
