// Giving credentials to a child process: only those asked for by name, only while they are valid, only in its environment.
import { NutError, shellWord } from "../errors.js";
import type { CredentialScope } from "../schema/manifest.js";
import type { Credential, Vault } from "../schema/vault.js";
import { earliestExpiry, expiryState, wholeSeconds } from "./expiry.js";
import { type Secret, secretsOf } from "./secrets.js";
import type { CredentialUse } from "./uses.js";

export interface HandOutRequest {
  readonly vault: Vault;
  /** The manifest's mirror: an expiry there counts too. */
  readonly scopes?: readonly CredentialScope[];
  readonly names: readonly string[];
  readonly purpose: string;
  readonly now: Date;
}

/** What whoever uses a credential must keep to, for people and for the harness. */
export interface Terms {
  readonly name: string;
  readonly type: string;
  readonly scopes: readonly string[];
  readonly restrictions: Readonly<Record<string, unknown>>;
  readonly expires_at: string | null;
  /** Environment variables that carry it. */
  readonly variables: readonly string[];
}

export interface HandOut {
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly Secret[];
  readonly terms: readonly Terms[];
  readonly uses: readonly CredentialUse[];
}

/** Variables that change what a program is or loads; a credential's name may not reach them. Each is the whole name. */
const RESERVED = new RegExp(
  `^(?:${[
    "PATH|HOME|SHELL|IFS|ENV|PWD|USER|LOGNAME|LANG|TERM|TMPDIR|TZ|CDPATH|DISPLAY|XAUTHORITY|EDITOR|VISUAL|PAGER|BROWSER",
    // A shell obeys some of them before it reads its first word, those that start a sandbox too.
    "SHELLOPTS|PS[0-4]|PROMPT_COMMAND|GLOBIGNORE|FPATH|ZDOTDIR|INPUTRC|FCEDIT|BASH.*",
    "(?:LD|DYLD|LC|GCONV|MALLOC|GLIBC|LIBMOUNT|XDG|DBUS|SYSTEMD|SUDO)(?:_.*)?|LOCPATH|NLSPATH|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS",
    "(?:NODE|NPM|BUN|DENO|YARN|PNPM|COREPACK|PYTEST|PIP|UV|CONDA|GEM|BUNDLE|JDK|DOTNET|CORECLR|COR|MONO|CARGO|RUST|GO|GRADLE|LUA|ERL|JULIA)(?:_.*)?",
    "NODE_.*|PYTHON.*|PERL.*|RUBY.*|PHP.*|_?JAVA.*|CLASSPATH|MAVEN_.*|RUSTC.*|RUSTFLAGS|R_(?:PROFILE|ENVIRON|LIBS|HOME).*|VIRTUAL_ENV",
    "GIT(?:_.*)?|SSH(?:_.*)?|SSL(?:_.*)?|(?:OPENSSL|CURL|REQUESTS|ELECTRON|CMAKE)_.*|.*_PROXY|WGETRC|NETRC|LESS.*|MANPAGER|AWK(?:LIB)?PATH",
    "(?:G?VIM|EX)INIT|MYVIMRC|MAKE(?:FLAGS|FILES|SHELL)|CC|CXX|CPP|(?:C|CXX|CPP|LD)FLAGS|PG(?:SERVICE.*|SYSCONFDIR|PASSFILE)",
    "(?:NEXUS|NUTSHELL|NUTCRACKER|NUT)(?:_.*)?",
  ].join("|")})$`,
);
/** And those that tell an agent's program whom to send the person's login to. A key of the request's own is no such thing. */
const STEERS_AGENTS = /^(ANTHROPIC|CLAUDE|CODEX|OPENAI|OPENCODE|GEMINI|GOOGLE_GEMINI|QWEN)_(?!API_KEY$).*$/;

export function handOut({ vault, scopes = [], names, purpose, now }: HandOutRequest): HandOut {
  const env: Record<string, string> = {};
  const secrets: Secret[] = [];
  const terms: Terms[] = [];
  for (const name of new Set(names)) {
    const credential = findCredential(vault, name);
    const expires = assertUsable(vault, credential, scopes, now);
    const variables = variablesOf(credential);
    for (const [variable, value] of Object.entries(variables)) {
      if (Object.hasOwn(env, variable)) {
        throw new NutError("CREDENTIAL_UNSAFE_NAME", `two credentials would both be ${variable}; hand them out apart`, {
          hint: "run two commands, each with one of them: nutshell exec --with '<name>'",
        });
      }
      env[variable] = value;
    }
    secrets.push(...secretsOf(credential));
    terms.push({
      name,
      type: credential.type,
      scopes: credential.scopes ?? [],
      restrictions: credential.restrictions ?? {},
      expires_at: expires,
      variables: Object.keys(variables),
    });
  }
  const uses = terms.map(({ name }) => ({ name, at: wholeSeconds(now), purpose }));
  return { env, secrets, terms, uses };
}

export function findCredential(vault: Vault, name: string): Credential {
  const credential = vault.credentials.find((one) => one.name === name);
  if (credential === undefined) {
    throw new NutError("CREDENTIAL_NOT_FOUND", `the vault has no credential "${name}"`, {
      hint: "nutshell credentials",
    });
  }
  return credential;
}

/** The effective expiry, or a refusal when the credential is past it, revoked, or nobody can tell. */
export function assertUsable(
  vault: Vault,
  credential: Credential,
  scopes: readonly CredentialScope[],
  now: Date,
): string | null {
  const { name, revoked_at: revoked } = credential;
  const scope = scopes.find((one) => one.name === name);
  if (revoked !== undefined || scope?.revoked_at !== undefined) {
    throw new NutError("CREDENTIAL_REVOKED", `credential "${name}" was revoked`, {
      hint: "ask the publisher for a new one",
      data: { name },
    });
  }
  const expires = earliestExpiry([vault.expires_at, credential.expires_at, scope?.expires_at]);
  const state = expiryState(expires, now);
  if (state === "expired" || state === "unreadable") {
    const why = state === "expired" ? `expired at ${expires}` : "has an expiry that cannot be read";
    throw new NutError("CREDENTIAL_EXPIRED", `credential "${name}" ${why}`, {
      hint: `nutshell rotate ${shellWord(name)} --expires 7d`,
      data: { name, expires_at: expires },
    });
  }
  return expires;
}

/**
 * `staging-db` with fields becomes STAGING_DB_HOST, STAGING_DB_PASSWORD… and STAGING_DB with all of it as JSON;
 * a plain text value becomes STAGING_DB alone.
 */
export function variablesOf({ name, value }: Pick<Credential, "name" | "value">): Record<string, string> {
  const base = variableName(name);
  const variables: Record<string, string> = {};
  const put = (variable: string, text: string) => {
    if (RESERVED.test(variable) || STEERS_AGENTS.test(variable) || !/^[A-Z_][A-Z0-9_]*$/.test(variable)) {
      throw new NutError("CREDENTIAL_UNSAFE_NAME", `credential "${name}" would set ${variable}, which programs obey`, {
        hint: "the publisher has to give it another name: nutshell add-credential --name '<name>'",
        data: { name, variable },
      });
    }
    if (text.includes("\0"))
      throw new NutError("CREDENTIAL_UNSAFE_NAME", `credential "${name}" holds a NUL character`, {
        hint: "the publisher has to replace it: nutshell rotate '<name>' --value-stdin",
      });
    if (Object.hasOwn(variables, variable)) {
      throw new NutError("CREDENTIAL_UNSAFE_NAME", `two fields of "${name}" would both be ${variable}`, {
        hint: "the publisher has to rename one of the fields: nutshell rotate '<name>' --value-stdin",
      });
    }
    variables[variable] = text;
  };
  if (typeof value === "string") put(base, value);
  else {
    put(base, JSON.stringify(value));
    for (const [field, item] of Object.entries(value)) {
      put(`${base}_${variableName(field)}`, typeof item === "string" ? item : JSON.stringify(item));
    }
  }
  return variables;
}

function variableName(text: string): string {
  const name = text.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  return /^[0-9]/.test(name) ? `_${name}` : name;
}
