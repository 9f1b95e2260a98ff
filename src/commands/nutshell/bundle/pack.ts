import { z } from "zod";
import { LEVELS } from "../../../bundle/index.js";
import { NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { packBundle, prepare } from "../../../request/pack-bundle.js";
import { COMPRESSIONS } from "../../../schema/manifest.js";
import { parsePeer, peerIdOf } from "../../../vault/index.js";

export const PackInput = z.object({
  dir: z.string().default(".").describe("folder that holds nutshell.json"),
  output: z.string().optional().describe("file to write; by default named after the title"),
  compression: z.enum(COMPRESSIONS).default("gzip"),
  level: z.enum(LEVELS).default("default"),
  force: z.boolean().default(false).describe("pack although something is missing"),
  list: z.boolean().default(false).describe("only say what would be packed"),
  encrypt: z.boolean().default(false).describe("seal for one peer"),
  peer: z.string().optional().describe("who it is sealed for: 64 hex digits or a 12D3KooW… peer id"),
  allow: z.array(z.string()).optional().describe("paths that may go although they look like secrets"),
  plainVault: z.boolean().optional().describe("send a vault that is not encrypted"),
  vaultIdentity: z.array(z.string()).optional().describe("age identity that opens the vault, to look for its values"),
});

const Left = z.object({ path: z.string(), reason: z.enum(["ignored", "never packed"]) });

export const PackOutput = z.object({
  path: z.string().describe("the bundle; with list, where it would go"),
  packed: z.boolean(),
  files: z.int().describe("files in the bundle, the manifest included"),
  original_bytes: z.int(),
  bytes: z.int().optional(),
  hash: z.string().optional().describe("of the whole file"),
  content_digest: z.string().optional().describe("of the content, the same for every compression and machine"),
  sealed_for: z.string().optional().describe("peer id of the only one who can open it"),
  allowed: z.array(z.string()).optional().describe("paths the leak scan let through, as the manifest records"),
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
    if (input.encrypt && input.peer === undefined) {
      throw new NutError("USAGE", "--encrypt seals for one peer, and none is named", {
        hint: "nutshell pack --peer <64 hex digits or peer id>",
      });
    }
    if (input.list) {
      const { output, listing } = prepare(input, context);
      const files = listing.entries.filter(({ kind }) => kind === "file");
      return {
        path: output,
        packed: false,
        files: files.length + 1,
        original_bytes: files.reduce((sum, { size }) => sum + size, 0),
        entries: listing.entries.map(({ path, kind, size }) => ({ path: kind === "folder" ? `${path}/` : path, size })),
        left: [...listing.left],
      };
    }
    const packed = await packBundle(input, context);
    return {
      path: packed.path,
      packed: true,
      files: packed.files,
      original_bytes: packed.originalBytes,
      bytes: packed.bytes,
      hash: packed.hash,
      content_digest: packed.contentDigest,
      completeness: packed.manifest.completeness?.status,
      left: [...packed.left],
      ...(input.peer === undefined ? {} : { sealed_for: peerIdOf(parsePeer(input.peer)) }),
      ...(input.allow === undefined ? {} : { allowed: input.allow }),
    };
  },
});
