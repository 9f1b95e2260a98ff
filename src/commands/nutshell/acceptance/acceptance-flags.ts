import { z } from "zod";
import { flag } from "../../../cli/fields.js";

/** Flags of everything that runs an acceptance. */
export const ACCEPTANCE_FLAGS = {
  base: flag(z.string().optional(), {
    value: "<dir>",
    about: "untouched repository, when the work was done in one",
  }),
  identity: flag(z.array(z.string()).default([]), {
    short: "i",
    value: "<file>",
    about: "age identity that opens the request's vault",
  }),
  noSandbox: flag(z.boolean().default(false), { about: "run without bubblewrap" }),
};
