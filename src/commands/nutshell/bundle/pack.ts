import { lstatSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { LEFT_REASONS } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { bold, count, dim, size, table } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { packBundle, prepare } from "../../../request/pack/pack-bundle.js";
import { DIR_OR_OUTPUT, dirAndOutput, GUARD_FLAGS, levelFlags } from "../pack-flags.js";

const Left = z.object({ path: z.string(), reason: z.enum(LEFT_REASONS) });

export default command({
  name: "pack",
  summary: "pack a folder into one .nut file",
  input: z.object({
    ...DIR_OR_OUTPUT,
    ...levelFlags("default"),
    force: flag(z.boolean().default(false), { about: "pack although something is missing" }),
    list: flag(z.boolean().default(false), { about: "only say what would be packed" }),
    peer: flag(z.string().optional(), {
      value: "<peer>",
      about: "seal it for one peer: 64 hex digits or a 12D3KooW… peer id",
    }),
    encrypt: flag(z.boolean().default(false), { about: "seal it; implied by --peer" }),
    ...GUARD_FLAGS,
  }),
  output: z.object({
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
    left_bytes: z.int().describe("size of what was left out as a build output or by .gitignore"),
  }),
  about: [
    "The manifest goes first, with the hash of every file. .nutignore leaves files out, as .gitignore does; version control and harness state never go in. Without a .nutignore, installed packages, virtual environments, build outputs, caches and earlier .nut files stay out, and in a repository what its .gitignore names.",
    "Every file is scanned for keys, tokens and the vault's own values on its way in. --allow lets a file through and is recorded in the manifest.",
  ],
  examples: [
    ["nutshell pack --dir my-task -o my-task.nut", "one file to hand over"],
    ["nutshell pack --dir my-task --list", "what would go in, and what stays out"],
    ["nutshell pack --dir my-task --peer 12D3KooW…", "sealed: only that peer can open it"],
    ["nutshell pack --dir my-task --compression zstd", "smaller and faster, where the receiver reads zstd"],
  ],
  async run(typed, context) {
    const input = dirAndOutput(typed);
    if (input.encrypt && input.peer === undefined) {
      throw new NutError("USAGE", "--encrypt seals for one peer, and none is named", {
        hint: `nutshell pack --dir ${shellWord(input.dir)} --peer "<64 hex digits or peer id>"`,
      });
    }
    if (input.list) {
      const { folder, output, listing } = prepare(input, context);
      const files = listing.entries.filter(({ kind }) => kind === "file");
      return {
        path: output,
        packed: false,
        files: files.length + 1,
        original_bytes: files.reduce((sum, { size }) => sum + size, listing.manifestBytes),
        entries: [
          { path: "nutshell.json", size: listing.manifestBytes },
          ...listing.entries.map(({ path, kind, size }) => ({ path: kind === "folder" ? `${path}/` : path, size })),
        ],
        left: [...listing.left],
        left_bytes: leftBytes(folder, listing.left),
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
      left_bytes: leftBytes(resolve(context.cwd, input.dir), packed.left),
      ...(input.peer === undefined ? {} : { sealed_for: await peerName(input.peer) }),
      ...(input.allow.length === 0 ? {} : { allowed: input.allow }),
    };
  },
  text: (result) => {
    if (!result.packed) {
      const rows = (result.entries ?? []).map((entry) => [`  ${entry.path}`, dim(size(entry.size))]);
      const left = result.left.map(({ path, reason }) => [`  ${path}`, dim(reason)]);
      return [
        bold(`${count(result.files, "file")}, ${size(result.original_bytes)}`),
        ...table(rows),
        ...(left.length > 0 ? ["", bold("left out"), ...table(left)] : []),
        ...savedWords(result),
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
      ...savedWords(result),
    ];
  },
});

const peerName = async (peer: string) => (await import("../../../request/pack/sealing.js")).peerName(peer);

type LeftOut = z.infer<typeof Left>;

/** Left out without a word of the person's own. */
const isUnsaid = ({ reason }: LeftOut): boolean => reason !== "ignored" && reason !== "never packed";

const SHOWN = 3;

function savedWords({ left, left_bytes: bytes }: { left: readonly LeftOut[]; left_bytes: number }): string[] {
  const unsaid = left.filter(isUnsaid).map(({ path }) => path);
  if (unsaid.length === 0) return [];
  const more = unsaid.length > SHOWN ? ` and ${unsaid.length - SHOWN} more` : "";
  const what = `left out: ${unsaid.slice(0, SHOWN).join(", ")}${more}, ${size(bytes)}`;
  return [dim(`  ${what} (--list says why; a .nutignore, an empty one too, decides instead)`)];
}

/** Large trees are not walked to their end. */
const MOST_ENTRIES = 200_000;

function leftBytes(folder: string, left: readonly LeftOut[]): number {
  let bytes = 0;
  let seen = 0;
  const add = (path: string): void => {
    seen += 1;
    const stats = seen > MOST_ENTRIES ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) for (const name of readdirSync(path)) add(join(path, name));
    else if (stats?.isFile() === true) bytes += stats.size;
  };
  for (const { path } of left.filter(isUnsaid)) add(join(folder, path));
  return bytes;
}
