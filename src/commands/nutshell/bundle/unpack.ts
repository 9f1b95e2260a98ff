import { basename, resolve } from "node:path";
import { z } from "zod";
import { unpackBundle } from "../../../bundle/index.js";
import { NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { unsealed } from "../../../request/sealed.js";
import { bundleSource, FindingShape, LimitInput, limitsOf } from "../../../request/shapes.js";

export const UnpackInput = z.object({
  bundle: z.string().describe("path to a .nut file, or - for standard input"),
  output: z.string().optional().describe("folder to make; by default named after the file"),
  identity: z.string().optional().describe("Ed25519 identity that opens a sealed bundle"),
  trust: z.array(z.string()).default([]).describe("root entries that programs obey and that may keep their place"),
  ...LimitInput,
});

export const UnpackOutput = z.object({
  dir: z.string(),
  files: z.int(),
  bytes: z.int(),
  content_digest: z.string(),
  quarantined: z.array(z.string()).describe("set aside in quarantine/, because programs would obey them"),
  findings: z.array(FindingShape),
});

export const unpack = operation({
  name: "bundle_unpack",
  summary: "unpack a bundle into a new folder, every hash checked",
  input: UnpackInput,
  output: UnpackOutput,
  async run(input, context) {
    const target = resolve(context.cwd, input.output ?? folderName(input.bundle));
    const source = await unsealed(bundleSource(input.bundle, context), input.identity, context);
    const { dir, files, bytes, contentDigest, quarantined, findings } = await unpackBundle(source, target, {
      limits: limitsOf(input),
      trust: input.trust,
      signal: context.signal,
      onProgress: ({ done }) => context.progress({ type: "entry_unpacked", done }),
    });
    return { dir, files, bytes, content_digest: contentDigest, quarantined: [...quarantined], findings: [...findings] };
  },
});

function folderName(bundle: string): string {
  if (bundle === "-") {
    throw new NutError("USAGE", "a bundle from standard input needs a folder to go to", {
      hint: "nutshell unpack - -o <dir>",
    });
  }
  const name = basename(bundle).replace(/\.nut$/i, "");
  return name === basename(bundle) || name === "" ? `${basename(bundle)}.unpacked` : name;
}
