// Under which licence a task stands: its own text first, else that of the collection it lies in, else a name in its metadata.
import type { Licence, TaskFile } from "./model.js";
import { fileAbove, type SourceFolder, textOf } from "./source-folder.js";

const NAMES = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "LICENCE.md", "COPYING", "LICENSE-MIT"] as const;
/** Where the text is kept in a request. */
const KEPT_AT = "context/LICENSE";

export interface FoundLicence {
  readonly licence: Licence | null;
  /** Files to keep in the request besides its own. */
  readonly files: ReadonlyMap<string, TaskFile>;
}

/** `named` is what the task's own metadata says. */
export function findLicence(folder: SourceFolder, named: string | null = null): FoundLicence {
  const own = NAMES.find((name) => folder.files.has(name));
  if (own !== undefined) {
    const name = named ?? recognised(textOf(folder, own));
    return { licence: { name, file: KEPT_AT }, files: new Map([[KEPT_AT, folder.files.get(own)!]]) };
  }
  const above = fileAbove(folder, NAMES);
  if (above !== null) {
    const text = Buffer.from(above.file.data).toString("utf8");
    const file = { data: above.file.data, executable: false };
    return { licence: { name: named ?? recognised(text), file: KEPT_AT }, files: new Map([[KEPT_AT, file]]) };
  }
  return { licence: named === null ? null : { name: named, file: null }, files: new Map() };
}

/** By sentences that only one licence has. */
const SENTENCES: readonly (readonly [string, RegExp])[] = [
  ["Apache-2.0", /Apache License\s+Version 2\.0/],
  ["AGPL-3.0", /GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3/],
  ["LGPL-3.0", /GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3/],
  ["GPL-3.0", /GNU GENERAL PUBLIC LICENSE\s+Version 3/],
  ["GPL-2.0", /GNU GENERAL PUBLIC LICENSE\s+Version 2/],
  ["MPL-2.0", /Mozilla Public License,?\s+(?:Version|v\.?) ?2\.0/i],
  [
    "MIT",
    /Permission is hereby granted, free of charge, to any person obtaining a copy[\s\S]*THE SOFTWARE IS PROVIDED "AS IS"/,
  ],
  ["BSD-3-Clause", /Redistribution and use in source and binary forms[\s\S]*Neither the name/],
  ["BSD-2-Clause", /Redistribution and use in source and binary forms/],
  ["ISC", /Permission to use, copy, modify, and(?:\/or)? distribute this software for any purpose/],
  ["CC-BY-SA-4.0", /Attribution-ShareAlike 4\.0 International/],
  ["CC-BY-4.0", /Attribution 4\.0 International/],
  ["CC0-1.0", /CC0 1\.0 Universal/],
  ["Unlicense", /This is free and unencumbered software released into the public domain/],
];

export function recognised(text: string | null): string | null {
  const head = text?.slice(0, 64 * 1024) ?? "";
  return SENTENCES.find(([, sentence]) => sentence.test(head))?.[0] ?? null;
}
