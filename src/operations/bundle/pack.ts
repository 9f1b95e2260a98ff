import { z } from "zod";
import { LEVELS } from "../../bundle/index.js";
import { COMPRESSIONS } from "../../schema/manifest.js";
import { operation } from "../operation.js";
import { packBundle, prepare } from "./pack-bundle.js";

export const PackInput = z.object({
  dir: z.string().default(".").describe("folder that holds nutshell.json"),
  output: z.string().optional().describe("file to write; by default named after the title"),
  compression: z.enum(COMPRESSIONS).default("gzip"),
  level: z.enum(LEVELS).default("default"),
  force: z.boolean().default(false).describe("pack although something is missing"),
  list: z.boolean().default(false).describe("only say what would be packed"),
});

const Left = z.object({ path: z.string(), reason: z.enum(["ignored", "never packed"]) });

export const PackOutput = z.object({
  path: z.string().describe("the bundle; with list, where it would go"),
  packed: z.boolean(),
  files: z.int().describe("files in the bundle, the manifest included"),
  originalBytes: z.int(),
  bytes: z.int().optional(),
  hash: z.string().optional().describe("of the whole file"),
  contentDigest: z.string().optional().describe("of the content, the same for every compression and machine"),
  completeness: z.string().optional(),
  entries: z.array(z.object({ path: z.string(), size: z.int() })).optional(),
  left: z.array(Left),
});

export const pack = operation({
  name: "bundle_pack",
  summary: "pack a folder into one .nut file",
  input: PackInput,
  output: PackOutput,
  async run(input, context) {
    if (input.list) {
      const { output, listing } = prepare(input, context);
      const files = listing.entries.filter(({ kind }) => kind === "file");
      return {
        path: output,
        packed: false,
        files: files.length + 1,
        originalBytes: files.reduce((sum, { size }) => sum + size, 0),
        entries: listing.entries.map(({ path, kind, size }) => ({ path: kind === "folder" ? `${path}/` : path, size })),
        left: [...listing.left],
      };
    }
    const { manifest, left, ...packed } = await packBundle(input, context);
    return { ...packed, packed: true, completeness: manifest.completeness?.status, left: [...left] };
  },
});
