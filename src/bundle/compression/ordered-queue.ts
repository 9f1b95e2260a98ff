/** Work under way on other threads, handed on in the order it was given. */
export class OrderedQueue<T> {
  private readonly underWay: Promise<T>[] = [];
  private readonly width: number;

  constructor(width: number) {
    this.width = width;
  }

  get isFull(): boolean {
    return this.underWay.length >= this.width;
  }

  get isEmpty(): boolean {
    return this.underWay.length === 0;
  }

  push(work: Promise<T>): void {
    // A rejection while an earlier one is awaited would end the process; `shift` sees it in its turn.
    work.catch(() => {});
    this.underWay.push(work);
  }

  shift(): Promise<T> {
    return this.underWay.shift()!;
  }
}
