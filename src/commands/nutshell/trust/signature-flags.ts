import { z } from "zod";
import { flag } from "../../../cli/fields.js";
import { KEY, Moment } from "./signing-flags.js";

/** Flags of whoever verifies. */
export const SIGNATURE_FLAGS = {
  require: flag(z.array(z.string()).default([]), {
    value: "<what>",
    about: "signer=<principal>: a trusted signature that must be on it",
  }),
  policy: flag(z.string().optional(), {
    value: "<file>",
    about: "a policy that holds besides your own and the project's",
  }),
  at: flag(Moment.optional(), {
    value: "<time>",
    about: "the time at which keys must have been valid (default: now)",
  }),
  sign: flag(z.boolean().default(false), { about: "with --rerun: sign what came out, and add it to the delivery" }),
  ...KEY,
};
