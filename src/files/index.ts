export { type AtomicWriteOptions, atomicWrite, syncFolder, TEMP_MARK, temporaryName } from "./atomic-write.js";
