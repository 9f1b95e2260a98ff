import { basename, resolve } from "node:path";
import { z } from "zod";
import { unpackBundle } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, dim, size, table, yellow } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { bundleSource } from "../../../request/open/target.js";
import { unsealed } from "../../../request/pack/sealed.js";
import { recordUnpacked } from "../../../request/records/consent-record.js";
import { FindingShape } from "../../../schema/finding.js";
import { LIMIT_FLAGS, limitsOf } from "../pack-flags.js";

export default command({
  name: "unpack",
  summary: "unpack a bundle, every hash checked",
  input: z.object({
    bundle: positional(z.string(), { about: "a .nut file, or - for standard input" }),
    output: flag(z.string().optional(), {
      short: "o",
      value: "<dir>",
      about: "folder to make (default: named after the file)",
    }),
    identity: flag(z.string().optional(), {
      short: "i",
      value: "<file>",
      about: "Ed25519 identity that opens a sealed bundle (default: your own)",
    }),
    trust: flag(z.array(z.string()).default([]), {
      value: "<path>",
      about: "leave this entry in its place although programs obey it (CLAUDE.md, .mcp.json…)",
    }),
    ...LIMIT_FLAGS,
  }),
  output: z.object({
    dir: z.string(),
    files: z.int(),
    bytes: z.int(),
    content_digest: z.string(),
    quarantined: z.array(z.string()).describe("set aside in quarantine/, because programs would obey them"),
    findings: z.array(FindingShape),
  }),
  about: [
    "Everything is checked before the folder appears: paths, hashes, the manifest's list. Files that agents and editors obey without asking are set aside in quarantine/ unless --trust names them.",
  ],
  examples: [
    ["nutshell unpack task.nut", "into ./task"],
    ["nutshell unpack task.nut -o workspace --trust CLAUDE.md", "and keep its CLAUDE.md where agents find it"],
    ["nutshell unpack sealed.nut --identity me.key", "a bundle sealed for you"],
    ["cat task.nut | nutshell unpack - -o workspace", "from standard input"],
  ],
  async run(input, context) {
    const target = resolve(context.cwd, input.output ?? folderName(input.bundle));
    const source = await unsealed(
      bundleSource(input.bundle, context),
      input.identity === undefined ? [] : [input.identity],
      context,
    );
    const { dir, files, bytes, contentDigest, quarantined, findings } = await unpackBundle(source, target, {
      limits: limitsOf(input),
      trust: input.trust,
      signal: context.signal,
      onProgress: ({ done }) => context.progress({ type: "entry_unpacked", done }),
    });
    recordUnpacked(dir, contentDigest, context);
    return { dir, files, bytes, content_digest: contentDigest, quarantined: [...quarantined], findings: [...findings] };
  },
  text: (result) => [
    `${bold("Unpacked")} ${count(result.files, "file")} (${size(result.bytes)}) into ${result.dir}`,
    ...table([["  Content:", result.content_digest]]),
    ...result.quarantined.map((path) => `${yellow("set aside:")} quarantine/${path} ${dim(`(keep: --trust ${path})`)}`),
    ...result.findings.map(({ message }) => `${yellow("warning:")} ${message}`),
  ],
});

function folderName(bundle: string): string {
  if (bundle === "-") {
    throw new NutError("USAGE", "a bundle from standard input needs a folder to go to", {
      hint: "nutshell unpack - -o '<dir>'",
    });
  }
  const name = basename(bundle).replace(/\.nut$/i, "");
  return name === basename(bundle) || name === "" ? `${basename(bundle)}.unpacked` : name;
}
