import { z } from "zod";

/** RFC 3339 with a time zone, as every date in the product is written. */
export const Timestamp = z.iso.datetime({ offset: true }).describe("RFC 3339 time, such as 2026-03-14T10:00:00Z");

export const Sha256 = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hex digits")
  .describe("sha256:<64 hex digits>");

/** Written as `nut-` + UUID; read more generously, since other tools shorten it. */
export const BundleId = z
  .string()
  .regex(/^nut-[0-9A-Za-z.-]{1,64}$/, "must be nut- and 1 to 64 letters, digits, dots or dashes")
  .describe("nut-<uuid>");

/** A document past its reader: nobody changes it in place. */
export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;
