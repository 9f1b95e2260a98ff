// Everything that changes state goes through here, in this order: lock, read, validate, write a temporary file, check its
// size, fsync, rename, fsync the folder, unlock, answer. Readers take no lock: a file is only ever replaced whole.
// Changes of the one list that everybody writes at once share that work: see group.ts.
// A damaged file is never replaced: a copy is kept, and every change is refused until a person has looked at it.
import { createHash } from "node:crypto";
import {
  close,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fromSystemError, NutError } from "../errors.js";
import { atomicWrite, makeFolder, syncFolder, TEMP_MARK } from "../files/index.js";
import { type Document, newerVersion, tasksFile } from "./documents.js";
import { Group, identityAt, identityOf, ledgerPath, type Revision } from "./group.js";
import { assertInside, type Layout } from "./layout.js";
import { applied } from "./ledger.js";
import { appended, chunks, type ListText, listText, replaced, withHead } from "./list-text.js";
import { acquire, exclusively, LOCK_WAIT_MS, type NamedLock, openLock } from "./lock.js";

/** What many agents change at once. */
const GROUPED: readonly Document<unknown>[] = [tasksFile as Document<unknown>];

export interface StoreOptions {
  readonly lockWaitMs?: number;
  /** False for state that is rebuilt from elsewhere (a run's journal): a power cut may then cost its latest changes. */
  readonly durable?: boolean;
}

/** How a list changed, when only one item did: the rest of its text is then not written out again as JSON. */
export type ListChange = { readonly appended: unknown } | { readonly replaced: number };

interface CachedFile {
  /** Held open so that the file's number cannot be given to another file while we compare by it. */
  readonly fd: number;
  readonly identity: string;
  readonly value: unknown;
  text: ListText | null;
}

export class Store {
  readonly layout: Layout;
  readonly #waitMs: number;
  readonly #durable: boolean;
  readonly #cache = new Map<string, CachedFile>();
  readonly #writers: NamedLock;
  readonly #settlers: NamedLock;
  readonly #groups: ReadonlyMap<string, Group>;
  /** Documents that were written past their group. */
  readonly #touched = new Set<string>();
  #prepared = false;

  constructor(layout: Layout, { lockWaitMs = LOCK_WAIT_MS, durable = true }: StoreOptions = {}) {
    this.#durable = durable;
    this.layout = layout;
    this.#waitMs = lockWaitMs;
    this.#writers = named(layout.lock);
    this.#settlers = named(join(dirname(layout.lock), "settle.lock"));
    this.#groups = new Map(GROUPED.map((document) => [document.path(layout), this.#groupOf(document)]));
  }

  /** The file's value, or null when there is none. Shared and read only. Throws STATE_DAMAGED for what cannot be read. */
  read<T>(document: Document<T>): T | null {
    const path = document.path(this.layout);
    return (this.#load(document, path)?.value as T | undefined) ?? null;
  }

  /** Whether this project has a state at all. Whatever only changes what is there is refused without making one. */
  isBegun(): boolean {
    assertInside(this.layout);
    return existsSync(this.layout.state);
  }

  /** Runs `change` alone among all processes. What it wrote before throwing stays written: order your writes. */
  async update<T>(change: (transaction: Transaction) => T): Promise<T> {
    assertInside(this.layout);
    await acquire(this.#settlers, this.#waitMs);
    try {
      return await exclusively(this.#writers, () => this.#change(change), this.#waitMs);
    } finally {
      this.#settlers.lock.release();
    }
  }

  /** Changes one list, together with whoever else changes it now. `change` may be asked more than once; it only answers. */
  async revise<T, R>(document: Document<T>, change: (before: T | null) => Revision<R>): Promise<R> {
    const group = this.#groups.get(document.path(this.layout));
    if (group === undefined || !this.#durable) return this.update((alone) => alone.revise(document, change));
    if (!this.isBegun()) {
      const { answer, entry } = change(null);
      if (entry === undefined) return answer;
    }
    try {
      return await group.revise(change as (before: unknown) => Revision<R>);
    } catch (error) {
      this.forget();
      throw fromSystemError(error) ?? error;
    }
  }

  /** Drops what is cached; the next read goes to the disk. */
  forget(): void {
    for (const { fd } of this.#cache.values()) closeSync(fd);
    this.#cache.clear();
    for (const group of this.#groups.values()) group.forget();
  }

  #change<T>(change: (transaction: Transaction) => T): T {
    this.#prepare();
    try {
      for (const group of this.#groups.values()) group.flush();
      return change(new Transaction(this));
    } catch (error) {
      this.forget();
      throw fromSystemError(error) ?? error;
    } finally {
      for (const path of this.#touched) this.#groups.get(path)?.rebase();
      this.#touched.clear();
    }
  }

  #groupOf(document: Document<unknown>): Group {
    const path = document.path(this.layout);
    return new Group({
      document,
      path,
      ledger: ledgerPath(this.layout.lock, document),
      writers: this.#writers,
      settlers: this.#settlers,
      waitMs: this.#waitMs,
      prepare: () => this.#prepare(),
      load: () => {
        new Transaction(this).open(document);
        return this.#cache.get(path) ?? null;
      },
      placed: (value) => this.#cacheFile(path, value, null),
    });
  }

  /** For transactions only. */
  replace(document: Document<unknown>, value: unknown, change?: ListChange): void {
    const path = document.path(this.layout);
    const text = document.list === undefined ? null : this.#text(document, path, value, change);
    makeFolder(dirname(path));
    const content = text === null ? `${JSON.stringify(value, null, 2)}\n` : chunks(text);
    atomicWrite(path, content, { durable: this.#durable });
    this.#touched.add(path);
    this.#cacheFile(path, value, text);
  }

  /** For transactions only. */
  remove(path: string): void {
    this.#touched.add(path);
    this.#setCached(path, null);
    rmSync(path, { force: true });
  }

  #load(document: Document<unknown>, path: string): CachedFile | null {
    const cached = this.#cache.get(path);
    if (cached !== undefined && sameFile(path, cached)) return cached;
    this.#setCached(path, null);
    const fd = openRegular(path);
    if (fd === null) return null;
    try {
      const value = parse(readFileSync(fd), document, path);
      const fresh = { fd, identity: identity(fd), value, text: null };
      this.#setCached(path, fresh);
      return fresh;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  #text(document: Document<unknown>, path: string, value: unknown, change?: ListChange): ListText {
    const key = document.list!;
    const fields = value as Record<string, unknown>;
    const before = this.#cache.get(path)?.text ?? null;
    if (before === null || change === undefined) return listText(fields, key);
    const head = withHead(before, fields, key);
    if ("appended" in change) return appended(head, change.appended);
    return replaced(head, change.replaced, (fields[key] as readonly unknown[])[change.replaced]);
  }

  #cacheFile(path: string, value: unknown, text: ListText | null): void {
    const fd = openSync(path, "r");
    this.#setCached(path, { fd, identity: identity(fd), value, text });
  }

  #setCached(path: string, next: CachedFile | null): void {
    const before = this.#cache.get(path);
    // Mostly the last name of a file that was replaced: freeing it takes the disk as long as writing did, and nobody waits for it.
    if (before !== undefined) close(before.fd);
    if (next === null) this.#cache.delete(path);
    else this.#cache.set(path, next);
  }

  /** Once per process. Under both locks nobody writes a file, so any temporary one was left by a process that died. */
  #prepare(): void {
    if (this.#prepared) return;
    const { nexus, state, own, artifacts } = this.layout;
    ignoreState(nexus);
    for (const folder of [nexus, state, own, artifacts]) {
      if (!existsSync(folder)) continue;
      for (const name of readdirSync(folder)) if (name.includes(TEMP_MARK)) rmSync(join(folder, name), { force: true });
    }
    this.#prepared = true;
  }
}

/** What a change may do, while the lock is held. */
export class Transaction {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get layout(): Layout {
    return this.#store.layout;
  }

  /** Reads a file that is about to be changed. Throws STATE_DAMAGED (after keeping a copy) or STATE_NEWER. */
  open<T>(document: Document<T>): T | null {
    try {
      const value = this.#store.read(document);
      refuseNewer(value, document.path(this.layout));
      return value;
    } catch (error) {
      if (error instanceof NutError && error.code === "STATE_DAMAGED") throw this.#withCopy(error);
      throw error;
    }
  }

  write<T>(document: Document<T>, value: T, change?: ListChange): void {
    this.#store.replace(document as Document<unknown>, value, change);
  }

  revise<T, R>(document: Document<T>, change: (before: T | null) => Revision<R>): R {
    const before = this.open(document);
    const { answer, entry } = change(before);
    if (entry === undefined) return answer;
    const how = entry.at === undefined ? { appended: entry.item } : { replaced: entry.at };
    this.#store.replace(document as Document<unknown>, applied(before, [entry], document.list!), how);
    return answer;
  }

  /** Deletes files that are there and says which; durable on return. */
  remove(paths: readonly string[]): string[] {
    const present = paths.filter((path) => existsSync(path));
    for (const path of present) this.#store.remove(path);
    for (const folder of new Set(present.map((path) => dirname(path)))) syncFolder(folder);
    return present.map((path) => basename(path));
  }

  /** The copy is named by its content, so however often a file is found damaged, it is kept once. */
  #withCopy(error: NutError): NutError {
    const path = String(error.data.path);
    const bytes = readRegular(path);
    if (bytes === null) return error;
    const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
    const folder = join(this.layout.own, "damaged");
    const copy = join(folder, `${basename(path)}.${digest}`);
    if (!existsSync(copy)) {
      makeFolder(folder);
      atomicWrite(copy, bytes);
    }
    return new NutError(error.code, `${error.message}; nothing was changed`, {
      hint: error.hint,
      data: { ...error.data, copy },
      cause: error,
    });
  }
}

/** Session files stay out of git, whoever made the folder. */
function ignoreState(nexus: string): void {
  const path = join(nexus, ".gitignore");
  if (!existsSync(path)) atomicWrite(path, "state/\n");
}

function refuseNewer(value: unknown, path: string): void {
  const version = newerVersion(value);
  if (version === null) return;
  throw new NutError("STATE_NEWER", `${path} was written by version ${version} of the contract; nothing was changed`, {
    hint: "npm install -g nutcracker@latest",
    data: { path, version },
  });
}

/** null for anything but a regular file: a pipe in its place would never end. */
function readRegular(path: string): Buffer | null {
  let fd: number | null = null;
  try {
    fd = openRegular(path);
    return fd === null ? null : readFileSync(fd);
  } catch {
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Opens without following a link or waiting for a FIFO; null when there is nothing. */
function openRegular(path: string): number | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "ELOOP" || code === "ENXIO") throw damaged(path, "is not a regular file");
    throw fromSystemError(error, path) ?? error;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw damaged(path, "is not a regular file");
}

function parse(bytes: Buffer, document: Document<unknown>, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    throw damaged(path, bytes.length === 0 ? "is empty" : "is not JSON", error);
  }
  const version = newerVersion(value);
  const problem = document.problem(value);
  if (problem === null) return value;
  if (version !== null) refuseNewer(value, path);
  throw damaged(path, `does not look right: ${problem}`);
}

function damaged(path: string, what: string, cause?: unknown): NutError {
  return new NutError("STATE_DAMAGED", `${path} ${what}`, {
    hint: `mend it, bring it back with git, or start afresh: mv ${path} ${path}.old`,
    data: { path },
    cause,
  });
}

const identity = (fd: number) => identityOf(fstatSync(fd, { bigint: true }));

const sameFile = (path: string, cached: CachedFile) => identityAt(path) === cached.identity;

const named = (path: string): NamedLock => ({ path, lock: openLock(path) });
