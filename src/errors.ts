// Every refusal the product can make. A refusal is a NutError with a stable code; anything else that is thrown is a bug.
// No secret may reach message, hint or data: they are printed, logged and sent to models.

/** `AREA_REASON`. Others branch on these, so a code is never renamed once released; tests pin the list. */
export type ErrorCode =
  // the command line itself
  | "USAGE"
  | "INTERRUPTED"
  | "NO_TERMINAL"
  // files and folders
  | "FILE_NOT_FOUND"
  | "FILE_EXISTS"
  | "FILE_UNREADABLE"
  | "FILE_UNWRITABLE"
  | "DISK_FULL"
  // child processes
  | "PROGRAM_MISSING"
  | "SANDBOX_MISSING"
  // bundle: bytes, entries, manifest
  | "BUNDLE_BAD_MAGIC"
  | "BUNDLE_CORRUPT"
  | "BUNDLE_INCOMPLETE"
  | "BUNDLE_LIMIT"
  | "BUNDLE_MISMATCH"
  | "BUNDLE_SEALED"
  | "BUNDLE_UNSAFE_ENTRY"
  | "BUNDLE_UNSAFE_PATH"
  | "ENTRY_NOT_FOUND"
  | "ISSUE_INVALID"
  | "MANIFEST_INVALID"
  | "MANIFEST_MISSING"
  | "MANIFEST_NEWER"
  | "SOURCE_CHANGED"
  | "SOURCE_UNSAFE"
  // merge: parts of a split
  | "MERGE_PART_MISSING"
  | "MERGE_STRANGER"
  // vault: credentials, identities, leaks
  | "CREDENTIAL_EXISTS"
  | "CREDENTIAL_EXPIRED"
  | "CREDENTIAL_NOT_FOUND"
  | "CREDENTIAL_REVOKED"
  | "CREDENTIAL_UNSAFE_NAME"
  | "EXPIRY_INVALID"
  | "IDENTITY_EXPOSED"
  | "IDENTITY_INVALID"
  | "IDENTITY_MISSING"
  | "LEAK_FOUND"
  | "PEER_INVALID"
  | "ROTATION_REFUSED"
  | "VAULT_BACKEND"
  | "VAULT_CHANGED"
  | "VAULT_COSTLY"
  | "VAULT_DAMAGED"
  | "VAULT_EXISTS"
  | "VAULT_IN_CLEAR"
  | "VAULT_MISSING"
  | "VAULT_NO_MATCHING_KEY"
  | "VAULT_UNREACHABLE"
  // acceptance
  | "CRITERIA_INVALID"
  // state
  | "ARTIFACT_UNSAFE"
  | "FIXTURE_INVALID"
  | "ROLE_DENIED"
  | "STATE_DAMAGED"
  | "STATE_LOCKED"
  | "STATE_NEWER"
  | "TOOL_REFUSED"
  // catalog
  | "CATALOG_INVALID"
  | "CATALOG_MISSING"
  | "CATALOG_UNKNOWN"
  | "CONFIG_INVALID"
  // hosts
  | "HOST_SETTINGS_INVALID"
  // drivers
  | "DRIVER_MISSING"
  | "DRIVER_TOO_OLD"
  | "DRIVER_FAILED"
  // run
  | "RUN_BUSY"
  | "RUN_DAMAGED"
  | "RUN_NOT_A_REQUEST"
  | "RUN_NOT_FOUND"
  | "RUN_NO_REPOSITORY"
  | "RUN_PLAN_INVALID"
  | "RUN_TREE_MOVED"
  // market
  | "MARKET_BAD_ADDRESS"
  | "MARKET_BAD_ANSWER"
  | "MARKET_BAD_ID"
  | "MARKET_HASH_MISMATCH"
  | "MARKET_NO_ANSWER"
  | "MARKET_NO_BUNDLE"
  | "MARKET_NOT_READY"
  | "MARKET_REFUSED"
  | "MARKET_REWARD"
  | "MARKET_STATE"
  | "MARKET_STRANGER"
  | "MARKET_SUCCESSOR"
  | "MARKET_UNREACHABLE"
  | "MARKET_UNPROVEN"
  | "MARKET_UPLOAD_FAILED"
  // web
  | "WEB_PORT_TAKEN";

export interface NutErrorOptions {
  /** What to do next, preferably a command that can be pasted. */
  readonly hint?: string;
  /** Machine-readable facts: the path, the offset, the limit. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Something was asked that cannot or must not be done. `message` is lower case, without a full stop. */
export class NutError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: NutErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "NutError";
    this.code = code;
    this.hint = options.hint;
    this.data = options.data ?? {};
  }
}

/** A judgement about content. Commands that judge return findings; they do not throw over what they were asked to look at. */
export interface Finding {
  readonly code: string;
  readonly severity: "error" | "warning" | "info";
  /** Where: a file, or a dotted manifest field. */
  readonly path: string;
  readonly message: string;
  /** The exact command or edit that removes the finding. */
  readonly fix?: string;
}

/** Node's own error for a failed system call, recognised by shape because its class is not exported. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error;
}

const SYSTEM_CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: "FILE_NOT_FOUND",
  ENOTDIR: "FILE_NOT_FOUND",
  EEXIST: "FILE_EXISTS",
  EACCES: "FILE_UNREADABLE",
  EPERM: "FILE_UNREADABLE",
  EISDIR: "FILE_UNREADABLE",
  ELOOP: "FILE_UNREADABLE",
  EMFILE: "FILE_UNREADABLE",
  EIO: "FILE_UNREADABLE",
  EROFS: "FILE_UNWRITABLE",
  ENOSPC: "DISK_FULL",
  EDQUOT: "DISK_FULL",
};

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  ENOTDIR: "not a folder",
  EEXIST: "already exists",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EISDIR: "is a folder",
  ELOOP: "too many links",
  EMFILE: "too many open files",
  EIO: "the disk reported an error",
  EROFS: "read-only file system",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
};

/** Turns a failed system call into a refusal that names the path; returns null for anything that is not one we know. */
export function fromSystemError(error: unknown, path?: string): NutError | null {
  if (!isSystemError(error)) return null;
  const code = SYSTEM_CODES[error.code];
  if (code === undefined) return null;
  const where = path ?? error.path;
  const words = SYSTEM_WORDS[error.code] ?? error.code;
  return new NutError(code, where === undefined ? words : `${where}: ${words}`, {
    data: { path: where, errno: error.code },
    cause: error,
  });
}

/** Codes that mean "it ran well and the answer is no" (exit 1); every other refusal means "could not" (exit 2). */
const ANSWERS_NO: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "BUNDLE_INCOMPLETE",
  "LEAK_FOUND",
  "TOOL_REFUSED",
  "MARKET_UNPROVEN",
]);

export function exitCodeFor(error: NutError): 1 | 2 {
  return ANSWERS_NO.has(error.code) ? 1 : 2;
}
