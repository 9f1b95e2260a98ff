// The person's login, lent to a program. A program that renews a rotating login writes the new one into its own home, and
// the person's is spent: so no agent is lent what renews it. An agent gets a copy that lets it in and no more; renewing is
// an errand of its own, in a home no agent was ever in (run/agents/keep-login.ts). What comes back from there is looked at
// here. Pure but for the two functions that read and write files.
import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSystemError, NutError } from "../errors.js";
import { atomicWrite, removeInside, within, writeInside } from "../files/index.js";
import type { Environment } from "../process/index.js";
import type { DriverName, SessionRequest } from "./driver.js";
import { programOf } from "./probe.js";

type Fields = Record<string, unknown>;

/** One login that is renewed by a token that works once. */
interface Grant {
  readonly access: string;
  readonly refresh: string;
  /** When it ends, in milliseconds since 1970. */
  readonly expires: number | null;
  /** Whose it is, as far as it says. */
  readonly account: string | null;
}

/** How one program keeps its login. */
interface Keeping {
  readonly owner: (env: Environment) => string;
  /** Where it looks for it in a home. */
  readonly home: string;
  /** Logins in the file that are renewed. `provider` chooses among several. */
  readonly grants: (file: Fields, provider: string | null) => readonly (readonly string[])[];
  readonly read: (grant: Fields, file: Fields) => Grant;
  /** The same file with other tokens in it, and nothing else changed. */
  readonly write: (
    grant: Fields,
    file: Fields,
    tokens: Grant,
    from: { readonly grant: Fields; readonly file: Fields },
  ) => void;
  /** Marks a copy so that the program renews it before anything else. */
  readonly expire: (grant: Fields, file: Fields) => void;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const moment = (value: unknown): number | null => (typeof value === "number" && value > 0 ? value : null);
const homeOf = (env: Environment): string => env.HOME ?? "/nonexistent";

/** What a token says of itself. It is not proven here: whoever let the program in does that. */
function claims(token: unknown): Fields {
  try {
    const [, body = ""] = text(token).split(".");
    const value: unknown = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

/** A login whose fields lie side by side under names of their own. */
function flat(
  names: { access: string; refresh: string; expires: string },
  account: (grant: Fields, file: Fields) => string,
) {
  return {
    read: (grant: Fields, file: Fields): Grant => ({
      access: text(grant[names.access]),
      refresh: text(grant[names.refresh]),
      expires: moment(grant[names.expires]),
      account: account(grant, file) || null,
    }),
    write: (grant: Fields, _: Fields, { access, refresh, expires }: Grant) => {
      Object.assign(grant, { [names.access]: access, [names.refresh]: refresh, [names.expires]: expires });
    },
    expire: (grant: Fields) => {
      grant[names.expires] = 1;
    },
  };
}

const expanded = (path = "", env: Environment): string => path.replace(/^~(?=\/|$)/, () => homeOf(env));

const GOOGLE_LIKE = { access: "access_token", refresh: "refresh_token", expires: "expiry_date" };
const openaiAccount = (token: unknown): string => {
  const auth = claims(token)["https://api.openai.com/auth"];
  return typeof auth === "object" && auth !== null ? text((auth as Fields).chatgpt_account_id) : "";
};

const CLAUDE: Keeping = {
  owner: (env) => join(env.CLAUDE_CONFIG_DIR ?? join(homeOf(env), ".claude"), ".credentials.json"),
  home: ".claude/.credentials.json",
  grants: () => [["claudeAiOauth"]],
  // It names no account; what it says of the subscription must stay as it is.
  ...flat({ access: "accessToken", refresh: "refreshToken", expires: "expiresAt" }, (grant, file) =>
    [file.organizationUuid, grant.subscriptionType].map(text).join(" ").trim(),
  ),
};

const CODEX: Keeping = {
  owner: (env) => join(env.CODEX_HOME || join(homeOf(env), ".codex"), "auth.json"),
  home: ".codex/auth.json",
  grants: () => [["tokens"]],
  read: (grant) => {
    const said = [text(grant.account_id), openaiAccount(grant.id_token), openaiAccount(grant.access_token)];
    const accounts = [...new Set(said.filter((id) => id !== ""))];
    return {
      access: text(grant.access_token),
      refresh: text(grant.refresh_token),
      expires: (moment(claims(grant.access_token).exp) ?? 0) * 1_000 || null,
      // Two names for one login are no name.
      account: accounts.length > 1 ? accounts.join(" or ") : (accounts[0] ?? null),
    };
  },
  write: (grant, file, { access, refresh }, from) => {
    Object.assign(grant, { access_token: access, refresh_token: refresh });
    if (typeof from.grant.id_token === "string") grant.id_token = from.grant.id_token;
    if (typeof from.file.last_refresh === "string") file.last_refresh = from.file.last_refresh;
  },
  // It believes what the token says of its own end.
  expire: (grant, file) => {
    const [head = "", , sign = ""] = text(grant.access_token).split(".");
    const over = Buffer.from(JSON.stringify({ ...claims(grant.access_token), exp: 1 })).toString("base64url");
    grant.access_token = [head, over, sign].join(".");
    file.last_refresh = "2000-01-01T00:00:00Z";
  },
};

const OPENCODE: Keeping = {
  owner: (env) => join(env.XDG_DATA_HOME ?? join(homeOf(env), ".local/share"), "opencode/auth.json"),
  home: ".local/share/opencode/auth.json",
  // One without an end is not renewed: GitHub's is such.
  grants: (file, provider) =>
    Object.entries(file)
      .filter(([name]) => provider === null || name === provider)
      .filter(([, grant]) => (grant as Fields)?.type === "oauth" && moment((grant as Fields).expires) !== null)
      .map(([name]) => [name]),
  ...flat(
    { access: "access", refresh: "refresh", expires: "expires" },
    ({ accountId, access }) => text(accountId) || openaiAccount(access),
  ),
};

const inHome = (path: string, account: Parameters<typeof flat>[1], owner?: Keeping["owner"]): Keeping => ({
  owner: owner ?? ((env) => join(homeOf(env), path)),
  home: path,
  grants: () => [[]],
  ...flat(GOOGLE_LIKE, account),
});

/** By the program's name. */
const KEEPING: Readonly<Record<string, Keeping>> = {
  claude: CLAUDE,
  "claude-agent-acp": CLAUDE,
  codex: CODEX,
  "codex-acp": CODEX,
  opencode: OPENCODE,
  gemini: inHome(
    ".gemini/oauth_creds.json",
    ({ id_token }) => text(claims(id_token).sub),
    (env) => join(env.GEMINI_CLI_HOME || homeOf(env), ".gemini/oauth_creds.json"),
  ),
  qwen: inHome(
    ".qwen/oauth_creds.json",
    ({ resource_url }) => text(resource_url),
    (env) => join(expanded(env.QWEN_HOME, env) || join(homeOf(env), ".qwen"), "oauth_creds.json"),
  ),
  copilot: { ...inHome(".copilot/config.json", () => ""), grants: () => [] },
};

/** How long before its end a login is renewed: a session should not outlive it. */
const DUE_MS = 30 * 60_000;
/** No login is good for longer. */
const LONGEST_MS = 400 * 86_400_000;
const MOST_BYTES = 1024 * 1024;
/** Stands where the renewing token was; a program that tries it is refused, and nothing is spent. */
const KEPT = "kept-by-nexus";

/** The login of one program, on this machine. */
export class Login {
  readonly #keeping: Keeping;
  readonly #provider: string | null;
  /** The person's own file, links followed. */
  readonly path: string;

  constructor(keeping: Keeping, env: Environment, provider: string | null) {
    this.#keeping = keeping;
    this.#provider = provider;
    this.path = keeping.owner(env);
  }

  /** A name for this login's lock and errands. */
  get id(): string {
    return createHash("sha256").update(this.path).digest("hex").slice(0, 24);
  }

  /** Whether it ends soon; a login that never ends is never due. */
  isDue(now = Date.now()): boolean {
    // Nobody knows which of several will be used: one that is refused is renewed then.
    if (this.#keeping === OPENCODE && this.#provider === null) return false;
    return this.#grants(readOwned(this.path)).some(({ expires }) => expires !== null && expires - now < DUE_MS);
  }

  /** Whether there is anything in it that could be renewed. */
  get isRenewable(): boolean {
    return this.#grants(readOwned(this.path)).length > 0;
  }

  /** Whether what is renewed could be brought back: a container may have the person's file without leave to write it. */
  get isWritable(): boolean {
    try {
      const path = realpathSync(this.path);
      for (const one of [path, dirname(path)]) accessSync(one, constants.W_OK);
      // A new file in its place would take it from its owner, and part it from its other name.
      const { uid, nlink } = statSync(path);
      return nlink === 1 && isOurs(uid);
    } catch (error) {
      if (isSystemError(error)) return false;
      throw error;
    }
  }

  /** Changes whenever its tokens do; some vendors renew one of the two alone. It lies in a file, so it tells none of them. */
  stamp(): string {
    const tokens = this.#grants(readOwned(this.path)).map(({ access, refresh }) => [access, refresh]);
    return createHash("sha256").update(JSON.stringify(tokens)).digest("hex");
  }

  /** Puts a copy into a home: one that lets in, or the whole of it, to be renewed at once. */
  lend(home: string, how: "access" | "whole"): void {
    const file = readOwned(this.path);
    if (file === null) return;
    for (const [grant, read] of this.#each(file, null)) {
      if (how === "whole") this.#keeping.expire(grant, file);
      else this.#keeping.write(grant, file, { ...read, refresh: KEPT }, { grant, file });
    }
    writeInside(home, this.#keeping.home, JSON.stringify(file));
  }

  takeBack(home: string): void {
    try {
      removeInside(home, this.#keeping.home);
    } catch (error) {
      if (!(error instanceof NutError)) throw error;
    }
  }

  /**
   * Brings renewed tokens from an errand's home into the person's file: token fields only, of the same account, and only while
   * the person's file still holds the tokens that were lent. Whoever calls holds the login's lock. Returns whether it did.
   */
  bringBack(home: string, lent: string, now = Date.now()): boolean {
    const [owned, renewed] = [readOwned(this.path), readFields(home, this.#keeping.home)];
    if (owned === null || renewed === null || this.stamp() !== lent) return false;
    let changed = false;
    for (const path of this.#keeping.grants(owned, this.#provider)) {
      const [grant, from] = [below(owned, path), below(renewed, path)];
      if (grant === null || from === null) continue;
      const [before, after] = [this.#keeping.read(grant, owned), this.#keeping.read(from, renewed)];
      if (!isRenewal(before, after, now)) continue;
      this.#keeping.write(grant, owned, after, { grant: from, file: renewed });
      changed = true;
    }
    if (changed) replace(realpathSync(this.path), `${JSON.stringify(owned, null, 2)}\n`);
    return changed;
  }

  #grants(file: Fields | null): Grant[] {
    return file === null ? [] : this.#each(file).map(([, read]) => read);
  }

  #each(file: Fields, provider = this.#provider): [Fields, Grant][] {
    return this.#keeping.grants(file, provider).flatMap((path): [Fields, Grant][] => {
      const grant = below(file, path);
      const read = grant === null ? null : this.#keeping.read(grant, file);
      return read === null || read.refresh === "" ? [] : [[grant!, read]];
    });
  }
}

function replace(path: string, text: string): void {
  try {
    atomicWrite(path, text, { mode: 0o600 });
  } catch (error) {
    // A file that is mounted by itself stays where it is.
    if (!isSystemError(error) || error.code !== "EBUSY") throw error;
    writeOver(path, Buffer.from(text));
  }
}

/** One write, no shorter than what was there: nobody sees half of it, killed or not. What is left over is blank, as JSON allows. */
function writeOver(path: string, bytes: Buffer): void {
  const file = openSync(path, "r+");
  try {
    const blank = Buffer.alloc(Math.max(0, fstatSync(file).size - bytes.length), " ");
    writeSync(file, Buffer.concat([bytes, blank]), 0, null, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** New tokens for the same account, of a shape somebody could have given. */
function isRenewal(before: Grant, after: Grant, now: number): boolean {
  if (after.access === before.access || after.account !== before.account) return false;
  if (![after.access, after.refresh].every((token) => /^[\x21-\x7e]{8,16384}$/.test(token))) return false;
  if (after.refresh === KEPT || (before.expires !== null && after.expires === null)) return false;
  return after.expires === null || (after.expires > now && after.expires < now + LONGEST_MS);
}

function below(file: Fields, path: readonly string[]): Fields | null {
  const found = path.reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], file);
  return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as Fields) : null;
}

/** A file in a home somebody else wrote to: no link on the way, plain, of one name, ours. */
function readFields(home: string, path: string): Fields | null {
  let fields: Fields | null = null;
  try {
    within(home, path, { make: false }, (folder, name) => {
      fields = readPlain(join(folder, name), constants.O_NOFOLLOW);
    });
  } catch (error) {
    if (!(error instanceof NutError) && !isSystemError(error)) throw error;
  }
  return fields;
}

function readOwned(path: string): Fields | null {
  try {
    return readPlain(path, 0, { isTheirs: true });
  } catch (error) {
    if (isSystemError(error)) return null;
    throw error;
  }
}

const isOurs = (uid: number): boolean => uid === (process.getuid?.() ?? uid);

/** A file of an agent's home must be ours and have one name. The person's own may be another's, as in a container, and have a second. */
function readPlain(path: string, flags: number, { isTheirs = false } = {}): Fields | null {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  try {
    const { size, uid, nlink, ...stat } = fstatSync(file);
    if ((stat.mode & constants.S_IFMT) !== constants.S_IFREG || size > MOST_BYTES) return null;
    if (!isTheirs && (nlink !== 1 || !isOurs(uid))) return null;
    const bytes = Buffer.alloc(size);
    const value: unknown = JSON.parse(bytes.subarray(0, readSync(file, bytes, 0, size, 0)).toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
  } catch (error) {
    // Half written, or no JSON at all.
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    closeSync(file);
  }
}

/** The login a program would use here; null when it keeps none in a file we know. */
export function loginOf(
  name: DriverName,
  env: Environment,
  { command = "", model }: { readonly command?: string | undefined; readonly model?: string | undefined } = {},
): Login | null {
  const program = name === "acp" ? basename(programOf(command)) : name;
  const keeping = Object.hasOwn(KEEPING, program) ? KEEPING[program]! : null;
  if (keeping === null) return null;
  const provider = program === "opencode" && model?.includes("/") === true ? model.slice(0, model.indexOf("/")) : null;
  const login = new Login(keeping, env, provider);
  return isThere(login.path) ? login : null;
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * Puts the person's login into a session's home for as long as it lasts. Returns what takes it out again. A whole one stays
 * where it is: what renewed it may be the only one that works, and whoever went on the errand looks after it.
 */
export function lendLogin(
  name: DriverName,
  { env, home, login: how = "access", command, model }: SessionRequest,
): () => void {
  const login = loginOf(name, env, { command, model });
  // The program works in the person's own home.
  if (login === null || login.path.startsWith(`${home}/`)) return () => {};
  login.lend(home, how);
  return how === "whole" ? () => {} : () => login.takeBack(home);
}
