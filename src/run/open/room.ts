// Every run holds what it knows of its trees in memory. Of several in one process only so many are open at once as fit; the others begin when
// one of them has ended. Small trees never wait.

/** Files of all trees that are open at once. */
const MOST_FILES = 100_000;
/** Agents that work on layers over one clone have no copies to remember. */
const LAYERED = 0.25;

export interface TreeSize {
  readonly files: number;
  readonly layered: boolean;
}

/** `most` is named by tests alone. */
export class Room {
  readonly #most: number;
  #held = 0;
  /** What one is expected to take: as much as the one before. */
  #expected = 0;
  #waiting: (() => void)[] = [];

  constructor(most = MOST_FILES) {
    this.#most = most;
  }

  /** Resolves when one more fits, at once when nobody holds anything. Throws what the signal is aborted with. One asks at a time. */
  async wait(signal: AbortSignal): Promise<void> {
    while (this.#held > 0 && this.#held + this.#expected > this.#most) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const wake = () => {
          signal.removeEventListener("abort", wake);
          resolve();
        };
        this.#waiting.push(wake);
        signal.addEventListener("abort", wake, { once: true });
      });
    }
  }

  /** Holds what a tree takes until the function that it returns is called. */
  take({ files, layered }: TreeSize): () => void {
    const size = layered ? files * LAYERED : files;
    this.#held += size;
    this.#expected = size;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held -= size;
      isHeld = false;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    };
  }
}
