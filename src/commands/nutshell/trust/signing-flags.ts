import { z } from "zod";
import { flag } from "../../../cli/fields.js";

export const KEY = {
  key: flag(z.string().optional(), {
    value: "<file>",
    about: "SSH key (private, or .pub for one the agent holds) or Ed25519 identity; default: your own",
  }),
};

/** A time that people write: 2026-12-31 or 2026-12-31T12:00:00Z. */
export const Moment = z
  .string()
  .refine((text) => /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(text) && !Number.isNaN(Date.parse(text)), {
    error: "give a time such as 2026-12-31 or 2026-12-31T12:00:00Z",
  });
