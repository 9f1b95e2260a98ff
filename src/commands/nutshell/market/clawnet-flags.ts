import type { Flag } from "../../../cli/command.js";

/** Flags every market command shares. */
export const CLAWNET: Readonly<Record<string, Flag>> = {
  clawnet: { value: "<host:port>", about: "the ClawNet daemon (default: 127.0.0.1:3998)" },
};

export const YES: Readonly<Record<string, Flag>> = {
  yes: { short: "y", about: "do not ask" },
};
