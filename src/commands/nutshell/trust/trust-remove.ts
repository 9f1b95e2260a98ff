import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { green } from "../../../cli/text.js";
import { inTurn } from "../../../request/records/in-turn.js";
import { removeTrust, revokeKey } from "../../../request/signatures/edit-trust.js";
import { fingerprint } from "../../../statements/index.js";

export default command({
  name: "trust remove",
  summary: "trust somebody, or a key, no longer",
  input: z.object({
    who: positional(z.string(), { about: "a principal, or a key's fingerprint" }),
    revoke: flag(z.boolean().default(false), {
      about: "also list the key as revoked, which nothing undoes by accident",
    }),
  }),
  output: z.object({
    removed: z.array(z.object({ principals: z.array(z.string()), key: z.string() })),
    revoked: z.array(z.string()).describe("fingerprints"),
  }),
  about: [
    "A key that was lost or stolen is revoked: it then counts for nothing, whatever any list says of it and whatever date is on what it signed.",
  ],
  examples: [
    ["nutshell trust remove alice@example.org", "her signatures are a stranger's again"],
    ["nutshell trust remove SHA256:… --revoke", "a stolen key"],
  ],
  async run({ who, revoke }, context) {
    const removed = await inTurn("changing-trust", context, () => {
      const found = removeTrust(who, context);
      if (revoke) for (const { key } of found) revokeKey(key, context);
      return found;
    });
    const rows = removed.map(({ principals, key }) => ({ principals, key: fingerprint(key) }));
    return { removed: rows, revoked: revoke ? rows.map(({ key }) => key) : [] };
  },
  text: ({ removed, revoked }) =>
    removed.map(
      ({ principals, key }) =>
        `${green("✓")} ${principals.join(", ")} is no longer trusted with key ${key}${revoked.includes(key) ? ", which is revoked" : ""}`,
    ),
});
