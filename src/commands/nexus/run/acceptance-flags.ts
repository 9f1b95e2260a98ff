// How the acceptance of a run is made, as `nexus run` and `nexus resume` are told.
import { z } from "zod";
import { flag } from "../../../cli/fields.js";
import { ALLOW_INSTALL, ALLOW_ORIGIN } from "../../nutshell/acceptance/acceptance-flags.js";

export const acceptanceFlags = {
  trials: flag(z.coerce.number().int().min(1).max(100).optional(), {
    value: "<n>",
    about: "how often the acceptance runs base and result (default: 3)",
  }),
  quick: flag(z.boolean().default(false), {
    about: "run each check once and leave the controls out: recorded, not proven",
  }),
  ...ALLOW_ORIGIN,
  ...ALLOW_INSTALL,
};

interface Given {
  readonly trials?: number | undefined;
  readonly quick: boolean;
  readonly allowOrigin: readonly string[];
  readonly allowInstall: boolean;
}

/** Only what was given: a resumed run keeps the rest. */
export const acceptanceOptions = ({ trials, quick, allowOrigin, allowInstall }: Given) => ({
  ...(trials === undefined ? {} : { trials }),
  ...(quick ? { quick } : {}),
  ...(allowOrigin.length === 0 ? {} : { allow_origins: [...allowOrigin] }),
  ...(allowInstall ? { allow_install: true } : {}),
});
