import { z } from "zod";
import { flag } from "../../../cli/fields.js";

const Origin = z.string().refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
  error: "give an origin such as http://127.0.0.1:8080",
});

export const ALLOW_ORIGIN = {
  allowOrigin: flag(z.array(Origin).default([]), {
    value: "<origin>",
    about: "api_test may ask this origin, on this machine or a private network too",
  }),
};

/** Flags of everything that runs an acceptance. */
export const ACCEPTANCE_FLAGS = {
  base: flag(z.string().optional(), {
    value: "<dir>",
    about: "untouched repository, when the work was done in one",
  }),
  identity: flag(z.array(z.string()).default([]), {
    short: "i",
    value: "<file>",
    about: "age identity that opens the request's vault, or the Ed25519 one a sealed bundle is for (default: your own)",
  }),
  trials: flag(z.coerce.number().int().min(1).max(20).optional(), {
    value: "<n>",
    about: "how often each check runs on the result and on the untouched request (default: 3)",
  }),
  quick: flag(z.boolean().default(false), { about: "one run each, no controls: recorded, not proven" }),
  yes: flag(z.boolean().default(false), {
    short: "y",
    about: "do not ask before running what was not made here",
  }),
  ...ALLOW_ORIGIN,
  keepBodies: flag(z.boolean().default(false), { about: "keep what api_test was answered in the logs" }),
  noSandbox: flag(z.boolean().default(false), { about: "run without bubblewrap" }),
};
