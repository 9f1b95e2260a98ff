// A long answer is read past Node's parser, which copies every piece into memory of its own: the head is the parser's, the
// body is taken out of its frames here, in buffers that are used again.
import type { Agent, IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** What a body is cut into. Each piece is good until `done` is called. */
export interface BodyTaker {
  take(pieces: readonly Buffer[], done: () => void): void;
  end(): void;
  fail(error: Error): void;
}

export interface LongBody {
  /** From now on; nothing is lost before. */
  start(taker: BodyTaker): void;
  pause(): void;
  resume(): void;
}

const PIECE_BYTES = 128 * 1024;
/** Heads and short answers come in this. */
const SMALL_BYTES = 16 * 1024;
const MOST_SPARE = 8;
const MOST_HEAD_BYTES = 32 * 1024;
/** Shorter ones keep their connection instead. */
const LONG_BYTES = 1024 * 1024;

const spare: Buffer[] = [];
const give = (buffer: Buffer): void => {
  if (buffer.length === PIECE_BYTES && spare.length < MOST_SPARE) spare.push(buffer);
};

const readers = new WeakMap<Socket, Reader>();

/** Connections of this agent can be read past the parser. */
export function readable<Kind extends Agent>(agent: Kind): Kind {
  const own = agent as unknown as { createConnection(options: object, done?: unknown): Socket };
  const connect = own.createConnection.bind(agent);
  own.createConnection = (options, done) => {
    const reader = new Reader();
    const socket = connect({ ...options, onread: reader.options }, done);
    reader.serve(socket);
    readers.set(socket, reader);
    return socket;
  };
  const reuse = agent.reuseSocket.bind(agent);
  agent.reuseSocket = (socket, request) => {
    readers.get(socket as Socket)?.use();
    reuse(socket, request);
  };
  return agent;
}

/** The body of an answer, when it is long or nobody knows how long, and is sent as it is. To be asked when the head came. */
export function longBodyOf(answer: IncomingMessage): LongBody | null {
  const reader = readers.get(answer.socket);
  const { "transfer-encoding": transfer, "content-length": length } = answer.headers;
  if (reader === undefined) return null;
  if (transfer !== undefined) return /^chunked$/i.test(transfer) ? reader.body(answer, new Chunks()) : null;
  if (length === undefined) return reader.body(answer, new UntilClose());
  return Number(length) >= LONG_BYTES ? reader.body(answer, new Counted(Number(length))) : null;
}

/** One connection's bytes: heads go to the parser and nothing but heads; bodies there too, unless one is taken. */
class Reader {
  #socket: Socket | null = null;
  #buffer: Buffer = Buffer.allocUnsafeSlow(SMALL_BYTES);
  #place: "idle" | "head" | "parser" | "body" = "head";
  #head: Buffer = Buffer.alloc(0);
  #body: Body | null = null;

  readonly options = {
    buffer: (): Buffer => {
      if (this.#place === "body") this.#buffer = spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
      else if (this.#buffer.length !== SMALL_BYTES) {
        give(this.#buffer);
        this.#buffer = Buffer.allocUnsafeSlow(SMALL_BYTES);
      }
      return this.#buffer;
    },
    callback: (length: number, buffer: Uint8Array): boolean => {
      const bytes = Buffer.from(buffer.buffer, buffer.byteOffset, length);
      if (this.#place === "body") return this.#body!.take(bytes, this.#buffer);
      this.#outside(bytes);
      return true;
    },
  };

  serve(socket: Socket): void {
    this.#socket = socket;
    socket.on("free", () => {
      this.#place = "idle";
      this.#body = null;
    });
  }

  /** Another answer is waited for. */
  use(): void {
    this.#place = "head";
  }

  /** Called while the parser is given the head. */
  body(answer: IncomingMessage, frames: Frames): LongBody | null {
    if (this.#place !== "head") return null;
    this.#place = "body";
    this.#body = new Body(answer, this.#socket!, frames);
    return this.#body;
  }

  #outside(bytes: Buffer): void {
    const socket = this.#socket!;
    if (this.#place === "idle") {
      // Nobody asked: it would be taken for the answer to the next question.
      socket.destroy();
      return;
    }
    if (this.#place === "parser") {
      socket.emit("data", bytes);
      return;
    }
    const before = this.#head.length;
    const all = before === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    const end = all.indexOf("\r\n\r\n", Math.max(0, before - 3)) + 4;
    if (end < 4) {
      this.#head = Buffer.from(all);
      if (all.length > MOST_HEAD_BYTES) socket.destroy(new Error("the head of the answer is too long"));
      return;
    }
    this.#head = Buffer.alloc(0);
    const head = all.subarray(0, end);
    // The parser could see another end of the head than we do.
    if (/[^\r]\n|\r[^\n]/.test(head.toString("latin1"))) {
      socket.destroy(new Error("the head of the answer has lines that end in two ways"));
      return;
    }
    socket.emit("data", head);
    if (socket.destroyed) return;
    const rest = all.subarray(end);
    if ((this.#place as string) === "body") {
      // It stays where the next head is read.
      if (rest.length > 0) this.#body!.take(Buffer.from(rest), null);
      return;
    }
    // A head that says "go on" is followed by another one.
    if (/^HTTP\/1\.\d 1\d\d/.test(head.toString("latin1", 0, 12))) {
      if (rest.length > 0) this.#outside(rest);
      return;
    }
    this.#place = "parser";
    if (rest.length > 0) socket.emit("data", rest);
  }
}

class Body implements LongBody {
  readonly #socket: Socket;
  readonly #frames: Frames;
  #taker: BodyTaker | null = null;
  #isPaused = true;
  #isOver = false;
  /** Came before somebody took it, or while nobody could. */
  readonly #waiting: (() => void)[] = [];

  constructor(answer: IncomingMessage, socket: Socket, frames: Frames) {
    this.#socket = socket;
    this.#frames = frames;
    // The parser sees nothing of the body. What it can tell is that the connection ended.
    answer.once("end", () => this.#over());
    answer.once("aborted", () => this.#fail(new Error("the service ended the answer in the middle")));
    answer.on("error", (error) => this.#fail(error));
    answer.resume();
  }

  start(taker: BodyTaker): void {
    this.#taker = taker;
    this.resume();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    while (!this.#isPaused && this.#waiting.length > 0) this.#waiting.shift()!();
    if (!this.#isPaused && !this.#isOver) this.#socket.resume();
  }

  /** Whether there may be more at once. */
  take(bytes: Buffer, buffer: Buffer | null): boolean {
    const done = () => {
      if (buffer !== null) give(buffer);
    };
    if (this.#isOver) {
      this.#socket.destroy();
      return false;
    }
    let pieces: readonly Buffer[];
    try {
      pieces = this.#frames.take(bytes);
    } catch (error) {
      this.#socket.destroy();
      this.#fail(error as Error);
      return false;
    }
    const { isOver } = this.#frames;
    this.#do(() => {
      if (pieces.length === 0) done();
      else this.#taker!.take(pieces, done);
      if (isOver) this.#finish();
    });
    if (this.#isPaused && !isOver) this.#socket.pause();
    return true;
  }

  #do(step: () => void): void {
    if (this.#isPaused || this.#waiting.length > 0) this.#waiting.push(step);
    else step();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#taker!.end();
    // The parser must be told that the answer is over before the connection can be used again.
    if (this.#frames instanceof Chunks && !this.#frames.isFollowed) {
      this.#socket.resume();
      this.#socket.emit("data", Buffer.from("0\r\n\r\n"));
    } else this.#socket.destroy();
  }

  /** The connection ended, which ends a body that has no other end. */
  #over(): void {
    if (this.#frames instanceof UntilClose) this.#do(() => this.#finish());
  }

  #fail(error: Error): void {
    if (this.#isOver || this.#frames.isOver) return;
    this.#do(() => {
      this.#isOver = true;
      this.#taker!.fail(error);
    });
  }
}

interface Frames {
  readonly isOver: boolean;
  /** What of the bytes is the body's. Throws when they cannot be read in one way alone. */
  take(bytes: Buffer): readonly Buffer[];
}

class UntilClose implements Frames {
  readonly isOver = false;

  take(bytes: Buffer): readonly Buffer[] {
    return [bytes];
  }
}

class Counted implements Frames {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  get isOver(): boolean {
    return this.#left === 0;
  }

  take(bytes: Buffer): readonly Buffer[] {
    const own = bytes.subarray(0, this.#left);
    this.#left -= own.length;
    return own.length === 0 ? [] : [own];
  }
}

const LINE_FEED = 10;
const MOST_LINE_BYTES = 1024;
const MOST_TRAILER_BYTES = 16 * 1024;

/** RFC 9112, section 7.1. Extensions and trailers are read and left out. */
export class Chunks implements Frames {
  isOver = false;
  /** Whether bytes came after the end, which nobody asked for. */
  isFollowed = false;
  #line = "";
  #left = 0;
  #next: "size" | "data" | "gap" | "trailer" = "size";
  #trailers = 0;

  take(bytes: Buffer): readonly Buffer[] {
    const pieces: Buffer[] = [];
    let at = 0;
    while (at < bytes.length) {
      if (this.isOver) {
        this.isFollowed = true;
        break;
      }
      if (this.#next === "data") {
        const piece = bytes.subarray(at, at + this.#left);
        pieces.push(piece);
        at += piece.length;
        this.#left -= piece.length;
        if (this.#left === 0) this.#next = "gap";
        continue;
      }
      const end = bytes.indexOf(LINE_FEED, at) + 1;
      const to = end === 0 ? bytes.length : end;
      this.#line += bytes.toString("latin1", at, to);
      at = to;
      if (this.#line.length > MOST_LINE_BYTES) throw broken();
      if (end === 0) break;
      this.#read(this.#line);
      this.#line = "";
    }
    return pieces;
  }

  #read(line: string): void {
    if (this.#next === "gap") {
      if (line !== "\r\n") throw broken();
      this.#next = "size";
    } else if (this.#next === "size") {
      const [, size] = /^([0-9a-f]{1,12})[\t ]*(?:;[^\r\n\0]*)?\r\n$/i.exec(line) ?? [];
      if (size === undefined) throw broken();
      this.#left = Number.parseInt(size, 16);
      this.#next = this.#left === 0 ? "trailer" : "data";
    } else if (line === "\r\n") this.isOver = true;
    else {
      this.#trailers += line.length;
      if (!/^[^\r\n\0]+\r\n$/.test(line) || this.#trailers > MOST_TRAILER_BYTES) throw broken();
    }
  }
}

const broken = (): Error => new Error("the service sends its answer in pieces that cannot be read");
