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
  | "SANDBOX_UNSAFE"
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
  | "IMPORT_UNFIT"
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
  | "BROKER_GONE"
  | "CREDENTIAL_EXISTS"
  | "CREDENTIAL_EXPIRED"
  | "CREDENTIAL_NOT_FOUND"
  | "CREDENTIAL_NOT_LENT"
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
  | "VAULT_IN_CLEAR"
  | "VAULT_MISSING"
  | "VAULT_NO_MATCHING_KEY"
  | "VAULT_UNFIT"
  | "VAULT_UNREACHABLE"
  // signatures
  | "POLICY_INVALID"
  | "POLICY_REFUSED"
  | "SIGNATURE_UNFIT"
  | "SIGNER_MISSING"
  | "TRUST_INVALID"
  // registries
  | "REGISTRY_BAD_ADDRESS"
  | "REGISTRY_BAD_ANSWER"
  | "REGISTRY_DENIED"
  | "REGISTRY_NOT_FOUND"
  | "REGISTRY_REFUSED"
  | "REGISTRY_UNREACHABLE"
  // repositories, and work on its way back
  | "APPLY_UNTRUSTED"
  | "BASE_UNKNOWN"
  | "PATCH_DIFFERS"
  | "REPOSITORY_DIRTY"
  | "REPOSITORY_FAILED"
  | "WORK_UNCHANGED"
  | "WORK_UNMATCHED"
  // acceptance
  | "CONSENT_NEEDED"
  | "CRITERIA_INVALID"
  | "HIDDEN_IN_CLEAR"
  | "HIDDEN_UNFIT"
  | "INSTALL_FAILED"
  | "INSTALL_NOT_ALLOWED"
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
  // run
  | "RUN_BUSY"
  | "RUN_DAMAGED"
  | "RUN_IDLE"
  | "RUN_NEWER"
  | "RUN_NOT_A_REQUEST"
  | "RUN_NOT_FOUND"
  | "RUN_NO_REPOSITORY"
  | "RUN_PLAN_INVALID"
  | "RUN_TREE_MOVED"
  | "TRACE_REFUSED"
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
  // fleet
  | "FLEET_CORRUPT"
  | "FLEET_DENIED"
  | "FLEET_INSECURE"
  | "FLEET_JOB_NOT_FOUND"
  | "FLEET_JOB_STATE"
  | "FLEET_LEASE_LOST"
  | "FLEET_NEWER"
  | "FLEET_NO_SERVER"
  | "FLEET_NOT_READY"
  | "FLEET_UNREACHABLE"
  // web
  | "WEB_PORT_TAKEN";

/**
 * Codes with one remedy wherever they are raised. Every other refusal must bring a hint of its own: the compiler asks
 * for it, since a person who is stopped needs to know what to do next.
 */
const STANDING_HINTS = {
  BUNDLE_CORRUPT: "fetch the bundle again, or ask the sender to pack it again",
  BUNDLE_LIMIT: "ask the sender to pack it again without what is too large",
  BUNDLE_MISMATCH: "fetch the bundle again, or ask the sender to pack it again",
  BUNDLE_UNSAFE_ENTRY: "ask the sender to pack it again",
  BUNDLE_UNSAFE_PATH: "ask the sender to pack it again",
  DISK_FULL: "df -h shows the space there is; make some, then run the command again",
  FILE_NOT_FOUND: "check the spelling, and the folder you are in: pwd",
  MARKET_BAD_ANSWER: "check what listens there, or name the daemon: --clawnet host:port",
  REGISTRY_BAD_ANSWER: "look at what the registry holds: nutshell tags oci://'<host>'/'<repository>'",
  ROTATION_REFUSED: "ask the publisher for a new rotation file",
  RUN_DAMAGED: "start afresh: nexus run '<request>'",
  SOURCE_CHANGED: "pack again when nothing writes to the folder",
  VAULT_DAMAGED: "ask the publisher for the bundle again, or take the vault from a copy",
} as const satisfies Partial<Record<ErrorCode, string>>;

type StandingCode = keyof typeof STANDING_HINTS;

interface NutErrorFacts {
  /** Machine-readable facts: the path, the offset, the limit. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export interface NutErrorOptions extends NutErrorFacts {
  /** What to do next: a command that can be pasted where one helps, otherwise a short imperative. */
  readonly hint: string;
}

/** Something was asked that cannot or must not be done. `message` is lower case, without a full stop. */
export class NutError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: StandingCode, message: string, options?: NutErrorFacts & Partial<NutErrorOptions>);
  constructor(code: ErrorCode, message: string, options: NutErrorOptions);
  constructor(code: ErrorCode, message: string, options: NutErrorFacts & Partial<NutErrorOptions> = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "NutError";
    this.code = code;
    this.hint = options.hint ?? STANDING_HINTS[code as StandingCode];
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

/** Errors Node has no name for, by their number on the system it runs on. */
const NAMELESS = ["EDQUOT", "ESTALE"] as const;

/** The name of a failed system call's error, also where Node says "UNKNOWN". */
function nameOf({ code, errno }: NodeJS.ErrnoException & { code: string }): string {
  // Asked of the process: an import of a module of Node's takes every start a millisecond.
  const numbers = process.getBuiltinModule("node:os").constants.errno;
  return NAMELESS.find((name) => numbers[name] === -(errno ?? 0)) ?? code;
}

/** What Node cannot hold in memory at once. */
function isNodeLimit(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return (
    error instanceof Error && "code" in error && /^ERR_(?:FS_FILE_TOO_LARGE|STRING_TOO_LONG)$/.test(String(error.code))
  );
}

/** A word that a shell reads as itself. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** `1234567` → `1,234,567`. By hand: the first word of `toLocaleString` takes longer than most commands. */
export function grouped(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

interface SystemRefusal {
  readonly code: ErrorCode;
  readonly words: string;
  /** What to do next, given the path as a word for a shell. */
  readonly hint: (path: string) => string;
}

const look = (path: string) => `ls -ld ${path}`;
const space = () => STANDING_HINTS.DISK_FULL;
const big = () => "find . -size +500M";
const spelling = () => STANDING_HINTS.FILE_NOT_FOUND;

const SYSTEM_REFUSALS: Readonly<Record<string, SystemRefusal>> = {
  ENOENT: { code: "FILE_NOT_FOUND", words: "no such file or folder", hint: spelling },
  ENOTDIR: { code: "FILE_NOT_FOUND", words: "not a folder", hint: look },
  ENAMETOOLONG: { code: "FILE_NOT_FOUND", words: "the name is too long", hint: spelling },
  EEXIST: { code: "FILE_EXISTS", words: "already exists", hint: (path) => `mv ${path} ${path}.old` },
  EACCES: { code: "FILE_UNREADABLE", words: "permission denied", hint: look },
  EPERM: { code: "FILE_UNREADABLE", words: "not permitted", hint: look },
  EISDIR: { code: "FILE_UNREADABLE", words: "is a folder", hint: (path) => `name a file in it: ls ${path}` },
  ELOOP: { code: "FILE_UNREADABLE", words: "too many links", hint: look },
  EMFILE: { code: "FILE_UNREADABLE", words: "too many open files", hint: () => "ulimit -n 4096" },
  EIO: { code: "FILE_UNREADABLE", words: "the disk reported an error", hint: () => "dmesg | tail" },
  EROFS: { code: "FILE_UNWRITABLE", words: "read-only file system", hint: () => "choose a folder that can be written" },
  EBUSY: { code: "FILE_UNWRITABLE", words: "is in use", hint: look },
  ENOTEMPTY: { code: "FILE_UNWRITABLE", words: "the folder is not empty", hint: look },
  EFBIG: { code: "FILE_UNWRITABLE", words: "the file would be larger than allowed here", hint: () => "ulimit -f" },
  ESTALE: { code: "FILE_UNREADABLE", words: "the network disk lost it", hint: look },
  ENOSPC: { code: "DISK_FULL", words: "the disk is full", hint: space },
  // Node's own limits, not the system's.
  ERR_FS_FILE_TOO_LARGE: {
    code: "FILE_UNREADABLE",
    words: "larger than 2 GiB, too large to be read at once",
    hint: big,
  },
  ERR_STRING_TOO_LONG: { code: "FILE_UNREADABLE", words: "too long to be read as text", hint: big },
  EDQUOT: { code: "DISK_FULL", words: "the disk quota is used up", hint: space },
  EAGAIN: { code: "FILE_UNREADABLE", words: "the system has no room for another process", hint: () => "ulimit -u" },
  ENOMEM: { code: "FILE_UNREADABLE", words: "the system has no memory left", hint: () => "free -h" },
};

/** Making a folder and those above it, Node says "no such file" of every disk that takes none of them. */
const NOT_MADE: SystemRefusal = {
  code: "FILE_UNWRITABLE",
  words:
    "the folder cannot be made: a link above it leads nowhere, or the disk is read-only, over its quota or failing",
  // The system's own word for it.
  hint: (path) => `mkdir -p ${path}`,
};

/** Calls on files: whatever the system answers there, it is no mistake of ours. */
const FILE_CALL =
  /^(?:access|chmod|chown|close|copyfile|cp|fchmod|fdatasync|fstat|fsync|ftruncate|futime|link|lstat|lutime|mkdir|mkdtemp|open|opendir|read|readlink|realpath|rename|rm|rmdir|scandir|stat|statfs|symlink|unlink|utime|write)$/;

/** What only we can have caused (a closed file, a wrong argument), and a reader that went away. */
const OURS: ReadonlySet<string> = new Set(["EBADF", "EINVAL", "EFAULT", "EPIPE"]);

function refusalFor(error: NodeJS.ErrnoException & { code: string }): SystemRefusal | null {
  const name = nameOf(error);
  if (name === "ENOENT" && error.syscall === "mkdir") return NOT_MADE;
  const known = SYSTEM_REFUSALS[name];
  if (known !== undefined) return known;
  if (!FILE_CALL.test(error.syscall ?? "") || OURS.has(name)) return null;
  return { code: "FILE_UNREADABLE", words: `the system refused it: ${name}`, hint: look };
}

/** Said of a rename, these are about what lies where it leads. */
const IN_THE_WAY: ReadonlySet<string> = new Set(["EISDIR", "EEXIST", "ENOTEMPTY"]);

/** Turns a failed system call into a refusal that names the path; returns null for anything that is not one we know. */
export function fromSystemError(error: unknown, path?: string): NutError | null {
  if (!isSystemError(error) && !isNodeLimit(error)) return null;
  const known = refusalFor(error);
  if (known === null) return null;
  const where = path ?? (IN_THE_WAY.has(nameOf(error)) ? (error as { dest?: string }).dest : undefined) ?? error.path;
  return new NutError(known.code, where === undefined ? known.words : `${where}: ${known.words}`, {
    hint: known.hint(shellWord(where ?? ".")),
    data: { path: where, errno: nameOf(error) },
    cause: error,
  });
}

/** Codes that mean "it ran well and the answer is no" (exit 1); every other refusal means "could not" (exit 2). */
const ANSWERS_NO: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "BUNDLE_INCOMPLETE",
  "LEAK_FOUND",
  "PATCH_DIFFERS",
  "REPOSITORY_DIRTY",
  "WORK_UNCHANGED",
  "TOOL_REFUSED",
  "MARKET_UNPROVEN",
]);

export function exitCodeFor(error: NutError): 1 | 2 {
  return ANSWERS_NO.has(error.code) ? 1 : 2;
}
