export {
  type AtomicWriteOptions,
  atomicWrite,
  missingFolder,
  syncFolder,
  TEMP_MARK,
  temporaryName,
  writeBeside,
} from "./atomic-write.js";
export {
  type FormatOptions,
  formatJson,
  JsonError,
  type JsonOptions,
  keepSpelling,
  parseJson,
} from "./strict-json.js";
