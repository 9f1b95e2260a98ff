export { type AtomicWriteOptions, atomicWrite, syncFolder, TEMP_MARK, temporaryName } from "./atomic-write.js";
export {
  type FormatOptions,
  formatJson,
  JsonError,
  type JsonOptions,
  keepSpelling,
  parseJson,
} from "./strict-json.js";
