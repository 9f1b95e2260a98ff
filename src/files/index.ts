export {
  type AtomicWriteOptions,
  atomicWrite,
  missingFolder,
  syncFolder,
  TEMP_MARK,
  temporaryName,
  writeBeside,
} from "./atomic-write.js";
export { clearAway } from "./clear-away.js";
export { entryAt } from "./entry-at.js";
export { removeFolder, sweepFolder } from "./foreign-folder.js";
export { appendInside, makeInside, removeInside, within, writeInside } from "./inside.js";
export { isText } from "./is-text.js";
export { makeFolder, removeEmpty } from "./make-folder.js";
export { NamelessFile } from "./nameless-file.js";
export { byBytes, foldersAbove, sortByBytes } from "./paths.js";
export { rawEntries } from "./raw-entries.js";
export { readPieces } from "./read-pieces.js";
export { renameOver } from "./rename-over.js";
export { type FileWrite, placeFiles, replaceFiles, writeInFolder } from "./replace-files.js";
export {
  type FormatOptions,
  formatJson,
  isNestedDeeper,
  JsonError,
  type JsonOptions,
  keepSpelling,
  parseJson,
} from "./strict-json.js";
export { takeName } from "./take-name.js";
