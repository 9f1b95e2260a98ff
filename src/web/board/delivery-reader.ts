// What a delivery says now: people judge it after its run is over, and then the bundle says more than the journal.
import { lstatSync } from "node:fs";
import { openContent } from "../../bundle/index.js";
import { Delivery } from "../../schema/delivery.js";

/** Reading one file of a bundle reads what stands before it. */
const MOST_BYTES = 64 * 1024 ** 2;
const RESULT = "delivery/result.json";

interface Known {
  readonly stamp: string;
  readonly delivery: Delivery | null;
}

export class DeliveryReader {
  readonly #known = new Map<string, Known>();
  readonly #reading = new Set<string>();
  readonly #heard: () => void;

  /** `heard`: something was read that was not known before. */
  constructor(heard: () => void) {
    this.#heard = heard;
  }

  /** What is known of it; null until it was read, and for what cannot be. Comes back at once. */
  look(path: string): Delivery | null {
    const stamp = stampOf(path);
    const known = this.#known.get(path);
    if (stamp !== "" && known?.stamp !== stamp && !this.#reading.has(path)) void this.#read(path, stamp);
    return known?.delivery ?? null;
  }

  /** Changes whenever it might say something else. */
  signature(path: string): string {
    return `${stampOf(path)} ${this.#known.get(path)?.stamp ?? ""}`;
  }

  async #read(path: string, stamp: string): Promise<void> {
    this.#reading.add(path);
    this.#known.set(path, { stamp, delivery: await resultIn(path) });
    this.#reading.delete(path);
    this.#heard();
  }
}

/** Only a regular file of a bearable size: the path stands in a journal, which anyone may have written. */
function stampOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size > MOST_BYTES) return "";
  return `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
}

async function resultIn(path: string): Promise<Delivery | null> {
  try {
    const content = await openContent(path);
    try {
      if (!content.files.has(RESULT)) return null;
      const text = Buffer.from(await content.read(RESULT)).toString("utf8");
      return Delivery.safeParse(JSON.parse(text)).data ?? null;
    } finally {
      await content.close();
    }
  } catch {
    // Gone, sealed or damaged: the journal still tells what was delivered.
    return null;
  }
}
