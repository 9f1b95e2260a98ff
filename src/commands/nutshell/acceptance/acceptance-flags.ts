import { z } from "zod";
import { flag } from "../../../cli/fields.js";
import { addressOf } from "../../../schema/address.js";

const Origin = z.string().refine((text) => addressOf(text) !== null, {
  error: "give an origin such as http://127.0.0.1:8080",
});

export const ALLOW_ORIGIN = {
  allowOrigin: flag(z.array(Origin).default([]), {
    value: "<origin>",
    about: "checks that need a network may reach this origin, on this machine or a private network too",
  }),
};

export const ALLOW_INSTALL = {
  allowInstall: flag(z.boolean().default(false), {
    about: "install what the checks need, once, in a sandbox with your network (default: ask, or refuse)",
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
  ...ALLOW_INSTALL,
  keepBodies: flag(z.boolean().default(false), { about: "keep what api_test was answered in the logs" }),
  noSandbox: flag(z.boolean().default(false), { about: "run without bubblewrap" }),
};
