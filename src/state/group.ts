// Group commit across processes. A change of a list is entered in the ledger under the writers' lock, which is held for
// microseconds. Whoever gets the settlers' lock then writes the document once for everything entered so far, in the order
// every write here has: a temporary file, its size checked, fsync, rename, fsync of the folder. A caller is answered when its
// entry is on the disk, whoever put it there. Dropping entries that are not placed is always safe: their callers ask again.
import { existsSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as later, setTimeout as sleep } from "node:timers/promises";
import { renameOver, syncFolder, writeBeside } from "../files/index.js";
import type { Document } from "./documents.js";
import {
  applied,
  fateOf,
  firstLine,
  type Head,
  isFull,
  isSettled,
  LedgerBroken,
  type LedgerEntry,
  LedgerFile,
} from "./ledger.js";
import { appended, chunks, type ListText, listText, replaced, withHead } from "./list-text.js";
import { exclusively, lockedBy, type NamedLock } from "./lock.js";

/** What a change of one list answers, and the entry to make; without one nothing changes. */
export interface Revision<R> {
  readonly answer: R;
  readonly entry?: LedgerEntry;
}

export interface GroupHost {
  readonly document: Document<unknown>;
  readonly path: string;
  readonly ledger: string;
  readonly writers: NamedLock;
  readonly settlers: NamedLock;
  readonly waitMs: number;
  /** The document as it is on disk. Throws STATE_DAMAGED or STATE_NEWER. */
  load(): { readonly identity: string; readonly value: unknown } | null;
  /** Called with both locks held, before anything is written. */
  prepare(): void;
  /** What the document holds now, so that the next reader need not parse it. */
  placed(value: unknown): void;
}

/** What this process knows of the document with all entries applied. */
interface LedgerView {
  readonly id: string;
  readonly serial: number;
  /** How far the ledger's lines were followed. */
  offset: number;
  number: number;
  value: unknown;
  text: ListText | null;
  /** Entries that `text` does not hold yet. */
  unwritten: LedgerEntry[];
}

const NO_FILE = "none";
/** Nobody waits this long for an entry: whoever made the last one is gone. */
const STALE_MS = 60_000;
const PAUSE_MS = 2;
const ASK_AGAIN_MS = 20;
const MAX_TRIES = 100;
const MAX_UNWRITTEN = 1_000;

export class Group {
  readonly #host: GroupHost;
  #view: LedgerView | null = null;
  #round: Promise<Head | null> | null = null;

  constructor(host: GroupHost) {
    this.#host = host;
  }

  async revise<R>(change: (before: unknown) => Revision<R>): Promise<R> {
    for (let tries = 1; ; tries += 1) {
      const { answer, head } = await this.#writing(() => this.#enter(change));
      if ((await this.#settled(head)) === "durable") return answer;
      if (tries === MAX_TRIES) throw lockedBy(this.#host.settlers.path, this.#host.waitMs);
    }
  }

  /** With both locks held: brings everything entered into the document. */
  flush(): void {
    if (!existsSync(this.#host.ledger)) return;
    this.#use((file) => {
      if (isSettled(this.#head(file))) return;
      const head = this.#follow(file);
      if (head.last > head.placed) {
        const temporary = this.#stage(file, this.#text());
        if (this.#place(file, temporary, head) !== null) return;
      }
      syncFolder(dirname(this.#host.path));
      this.#markDurable(file, head);
    });
  }

  /** With both locks held: the document was written past the ledger. */
  rebase(): void {
    if (!existsSync(this.#host.ledger)) return;
    this.#use((file) => {
      const head = file.head();
      if (head !== null) file.drop(head, identityAt(this.#host.path));
    });
  }

  forget(): void {
    this.#view = null;
  }

  #enter<R>(change: (before: unknown) => Revision<R>): { answer: R; head: Head } {
    return this.#use((file) => {
      let head = this.#follow(file);
      if (isFull(head)) {
        file.drop(head, head.base);
        head = this.#follow(file);
      }
      const { answer, entry } = change(this.#view!.value);
      // An answer without a change still tells of changes that are not on the disk yet: it waits for them.
      if (entry === undefined) return { answer, head };
      head = file.append(head, entry);
      this.#learn([[head.last, entry]], head);
      return { answer, head };
    });
  }

  /** Waits until the entry is on the disk or dropped. Requests that wait in one process look and write together. */
  async #settled({ id, last, durable }: Head): Promise<"durable" | "void"> {
    if (last <= durable) return "durable";
    const start = performance.now();
    for (;;) {
      if (this.#round === null) {
        this.#round = this.#advance();
        const over = () => {
          this.#round = null;
        };
        this.#round.then(over, over);
      }
      const head = await this.#round;
      const fate = head === null ? null : fateOf(head, id, last);
      if (fate !== null) return fate;
      if (performance.now() - start >= this.#host.waitMs) return this.#giveUp(id, last);
    }
  }

  /** Settles, or waits a little for whoever is settling. */
  async #advance(): Promise<Head | null> {
    // Requests that arrived together enter first.
    await later();
    const { lock } = this.#host.settlers;
    const before = this.#use((file) => file.progress());
    if (!lock.tryAcquire()) return this.#watch(before);
    try {
      return await this.#settle();
    } finally {
      lock.release();
    }
  }

  /** Waits until the settler has got something done, or has had the time to die. */
  async #watch(before: string): Promise<Head | null> {
    const file = LedgerFile.open(this.#host.ledger);
    try {
      const until = performance.now() + ASK_AGAIN_MS;
      while (file.progress() === before && performance.now() < until) await sleep(PAUSE_MS);
      return file.head();
    } finally {
      file.close();
    }
  }

  async #settle(): Promise<Head> {
    const { head, text, value } = await this.#writing(() => {
      this.#host.prepare();
      const head = this.#use((file) => this.#follow(file));
      return { head, text: head.last > head.placed ? this.#text() : null, value: this.#view!.value };
    });
    if (isSettled(head)) return head;
    if (text !== null) {
      const temporary = await this.#staged(text);
      const now = await this.#writing(() => this.#use((file) => this.#place(file, temporary, head)));
      if (now !== null) return now;
      this.#host.placed(value);
    }
    syncFolder(dirname(this.#host.path));
    return this.#use((file) => this.#markDurable(file, head));
  }

  /** The whole document in a temporary file, on the disk. */
  async #staged(text: ListText): Promise<string> {
    try {
      return writeBeside(this.#host.path, chunks(text));
    } catch (error) {
      await this.#writing(() => this.#use((file) => this.#drop(file)));
      throw error;
    }
  }

  /** Renames, unless what the file was made from is no longer so: then returns the head and leaves nothing. */
  #place(file: LedgerFile, temporary: string, from: Head): Head | null {
    const { path } = this.#host;
    try {
      const head = this.#head(file);
      if (head.id !== from.id || head.serial !== from.serial) {
        rmSync(temporary, { force: true });
        return head;
      }
      const ready = file.writeHead({
        ...head,
        placing: { number: from.last, file: withoutChange(identityAt(temporary)) },
      });
      renameOver(temporary, path);
      file.writeHead({ ...ready, placed: from.last, base: identityAt(path), placing: null });
      return null;
    } catch (error) {
      rmSync(temporary, { force: true });
      this.#drop(file);
      throw error;
    }
  }

  #stage(file: LedgerFile, text: ListText): string {
    try {
      return writeBeside(this.#host.path, chunks(text));
    } catch (error) {
      this.#drop(file);
      throw error;
    }
  }

  /** With the settlers' lock held; the head may be written by another meanwhile. */
  #markDurable(file: LedgerFile, head: Head): Head {
    const now = file.head();
    if (now !== null && (now.id !== head.id || now.durable >= head.last)) return now;
    return file.writeDurable(now ?? head, head.last);
  }

  /** Nobody settled in time. What is in the document needs only its folder synced; the rest is taken back. */
  async #giveUp(id: string, number: number): Promise<"durable" | "void"> {
    const head = await this.#writing(() =>
      this.#use((file) => {
        const now = this.#head(file);
        return fateOf(now, id, number) === null ? this.#drop(file) : now;
      }),
    );
    if (fateOf(head, id, number) === "durable") return "durable";
    throw lockedBy(this.#host.settlers.path, this.#host.waitMs);
  }

  #drop(file: LedgerFile): Head {
    const head = this.#head(file);
    // What was placed counts as durable from here on.
    if (head.durable < head.placed) syncFolder(dirname(this.#host.path));
    this.#view = null;
    return file.drop(head, head.base);
  }

  /** The head, true to the document: someone else may have replaced it, or died while doing so. */
  #head(file: LedgerFile): Head {
    const now = identityAt(this.#host.path);
    const head = file.head() ?? file.create(now);
    if (now === head.base) return head;
    if (head.placing?.file === withoutChange(now)) {
      return file.writeHead({ ...head, placed: head.placing.number, base: now, placing: null });
    }
    if (head.durable < head.placed) syncFolder(dirname(this.#host.path));
    return file.drop(head, now);
  }

  /** Brings the view up to the last entry. */
  #follow(file: LedgerFile): Head {
    for (let tries = 0; ; tries += 1) {
      const head = this.#head(file);
      try {
        if (head.last > head.placed && Date.now() - file.changedMs() > STALE_MS) throw new LedgerBroken("nobody waits");
        if (this.#view?.id !== head.id || this.#view.serial !== head.serial) this.#start(head);
        this.#learn(file.entries(head, this.#view!.offset), head);
        return head;
      } catch (error) {
        if (!(error instanceof LedgerBroken) || tries === MAX_TRIES) throw error;
        this.#drop(file);
      }
    }
  }

  #start(head: Head): void {
    this.#view = null;
    const document = this.#host.load();
    if ((document?.identity ?? NO_FILE) !== head.base) throw new LedgerBroken("the document changed meanwhile");
    const { id, serial, placed } = head;
    const value = document?.value ?? null;
    this.#view = { id, serial, offset: firstLine, number: placed, value, text: null, unwritten: [] };
  }

  #learn(entries: readonly (readonly [number: number, entry: LedgerEntry])[], { end, last }: Head): void {
    const view = this.#view!;
    const news = entries.filter(([number]) => number > view.number);
    if (news.some(([number], index) => number !== view.number + 1 + index) || view.number + news.length !== last) {
      throw new LedgerBroken("an entry is missing");
    }
    view.offset = end;
    if (news.length === 0) return;
    const changes = news.map(([, entry]) => entry);
    view.value = applied(view.value, changes, this.#host.document.list!);
    view.number = last;
    if (view.text !== null) view.unwritten.push(...changes);
    if (view.unwritten.length <= MAX_UNWRITTEN) return;
    view.text = null;
    view.unwritten = [];
  }

  #text(): ListText {
    const view = this.#view!;
    const key = this.#host.document.list!;
    const fields = view.value as Record<string, unknown>;
    view.text = view.text === null ? listText(fields, key) : written(view.text, view.unwritten);
    view.unwritten = [];
    view.text = withHead(view.text, fields, key);
    return view.text;
  }

  #writing<T>(work: () => T): Promise<T> {
    return exclusively(this.#host.writers, work, this.#host.waitMs);
  }

  #use<T>(work: (file: LedgerFile) => T): T {
    return LedgerFile.use(this.#host.ledger, work);
  }
}

/** Items that were added one after the other are added at once. */
function written(text: ListText, entries: readonly LedgerEntry[]): ListText {
  let [now, added] = [text, [] as unknown[]];
  for (const { item, at } of entries) {
    if (at === undefined) {
      added.push(item);
      continue;
    }
    now = replaced(appended(now, ...added), at, item);
    added = [];
  }
  return appended(now, ...added);
}

/** The same file, with the same content: its number, size and times. */
export function identityAt(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? NO_FILE : identityOf(stat);
}

export function identityOf(
  stat: {
    readonly [field in "dev" | "ino" | "size" | "mtimeNs" | "ctimeNs"]: bigint;
  },
): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

/** A rename changes a file's last time and nothing else. */
const withoutChange = (identity: string) => identity.slice(0, identity.lastIndexOf(":"));

export const ledgerPath = (lock: string, { name }: Document<unknown>) => join(dirname(lock), `${name}.ledger`);
