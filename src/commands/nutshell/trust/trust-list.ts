import { z } from "zod";
import { command } from "../../../cli/command.js";
import { dim, red, table, yellow } from "../../../cli/text.js";
import { readPolicies, readTrust, trustPath } from "../../../request/signatures/trust-files.js";
import { NAMESPACE } from "../../../schema/statement.js";
import { fingerprint, keyStanding } from "../../../statements/index.js";

export default command({
  name: "trust list",
  summary: "whom you trust, and which policies hold here",
  input: z.object({}),
  output: z.object({
    path: z.string().nullable(),
    signers: z.array(
      z.object({
        principals: z.array(z.string()),
        key: z.string(),
        type: z.string(),
        valid_after: z.string().nullable(),
        valid_before: z.string().nullable(),
        trusted: z.boolean().describe("now, for bundles"),
        why: z.string().nullable(),
      }),
    ),
    skipped: z.array(z.object({ line: z.int(), why: z.string() })).describe("lines that trust nobody"),
    revoked: z.array(z.string()),
    policies: z.array(z.string()).describe("files whose demands hold in this folder"),
  }),
  examples: [["nutshell trust list", "names, fingerprints, and from when to when"]],
  async run(_input, context) {
    const trust = readTrust(context);
    return {
      path: trustPath(context),
      signers: trust.lines.map(({ principals, key, validAfter, validBefore }) => {
        const standing = keyStanding(key, trust, NAMESPACE, context.now());
        return {
          principals: [...principals],
          key: fingerprint(key),
          type: key.type,
          valid_after: validAfter?.toISOString() ?? null,
          valid_before: validBefore?.toISOString() ?? null,
          trusted: standing.trusted,
          why: standing.trusted ? null : standing.why,
        };
      }),
      skipped: trust.skipped.map((one) => ({ ...one })),
      revoked: [...trust.revoked],
      policies: [...(await readPolicies(undefined, context)).paths],
    };
  },
  text: ({ path, signers, skipped, revoked, policies }) => [
    ...(signers.length === 0 ? ["you trust nobody yet: nutshell trust add '<name>' --key '<file>.pub'"] : []),
    ...table(
      signers.map(({ principals, key, why, valid_before: end }) => [
        principals.join(", "),
        key,
        why === null ? dim(end === null ? "" : `until ${end}`) : red(why),
      ]),
    ),
    ...skipped.map(({ line, why }) => `${yellow("⚠")} line ${line} of ${path} trusts nobody: ${why}`),
    ...revoked.map((key) => `${red("✗")} revoked: ${key}`),
    ...policies.map((file) => `policy: ${file}`),
  ],
});
