import { NutError } from "../../errors.js";
import { RUN_VERSION } from "../../schema/run.js";

/** The version a file of a run names; what names none is version 1. Throws RUN_NEWER, or what `damaged` makes of nonsense. */
export function versionOf(named: unknown, path: string, damaged: (why: string) => NutError): number {
  const version = named === undefined ? 1 : named;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1)
    throw damaged('"version" is no version');
  if (version <= RUN_VERSION) return version;
  throw new NutError(
    "RUN_NEWER",
    `${path} was written by a newer nexus (version ${version}, this one knows ${RUN_VERSION})`,
    {
      hint: "npm install -g nutcracker@latest",
      data: { path, version },
    },
  );
}
