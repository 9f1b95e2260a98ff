// What opens a vault does not know which folder was named: what it tells to type is made about that one here.
import type { Finding } from "../../../errors.js";
import { NutError } from "../../../errors.js";
import type { CredentialList } from "../../../request/vault/credential-list.js";
import { dirWords } from "../../../request/vault/vault-folder.js";

interface InFolder {
  readonly dir?: string | undefined;
}

/** The same command, whose refusals name the folder. */
export function aboutFolder<C extends { readonly run: (...given: never[]) => Promise<unknown> }>(command: C): C {
  const before = command.run as (...given: unknown[]) => Promise<unknown>;
  const run = async (...given: unknown[]) => {
    try {
      return await before.apply(command, given);
    } catch (error) {
      throw named(error, (given[0] as InFolder).dir);
    }
  };
  return { ...command, run } as C;
}

/** A command about a vault that a hint ends with. */
const ABOUT_VAULT = /\bnutshell (?:credentials|rotate)(?: (?!--dir\b)[^\s,;()]+)*$/;

function named(error: unknown, dir: string | undefined): unknown {
  if (!(error instanceof NutError) || error.hint === undefined || !ABOUT_VAULT.test(error.hint)) return error;
  const { code, message, data, cause } = error;
  return new NutError(code, message, { hint: `${error.hint}${dirWords(dir)}`, data, cause });
}

/** What to do about credentials, or how to add the first one. */
export function aboutList(list: CredentialList, dir: string | undefined): CredentialList {
  const first = `nutshell add-credential --name '<name>' --type '<type>'${dirWords(dir)}`;
  const next = list.credentials.length === 0 ? { next: first } : {};
  return { ...list, findings: fixesIn(list.findings, dir), ...next };
}

const fixesIn = (findings: readonly Finding[], dir: string | undefined): Finding[] =>
  findings.map((finding) =>
    finding.fix === undefined ? finding : { ...finding, fix: `${finding.fix}${dirWords(dir)}` },
  );
