// Standard input and output for the server. The SDK's own transport drops what it has not answered when the input ends;
// whoever pipes a few requests in and closes the pipe wants their answers first.
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Room for an artifact of the largest size and its escapes; a line beyond it ends the connection. */
const MAX_LINE_BYTES = 48 * 1024 * 1024;

const NEWLINE = 0x0a;

const NO_MESSAGE = "not a JSON-RPC message";
const PARSE_ERROR = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"${NO_MESSAGE}"}}\n`;

export class PatientTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;

  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #wire: StdioServerTransport;
  /** Whole lines only: the SDK copies everything it has of a line with each piece that arrives. */
  readonly #lines = new PassThrough();
  #pieces: Buffer[] = [];
  #pending = 0;
  /** Whether anything came in yet. */
  isAsked = false;
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  #over: () => void = () => {};
  readonly #unanswered = new Set<unknown>();
  #ended = false;

  constructor(stdin: Readable, stdout: Writable) {
    this.closed = new Promise((resolve) => {
      this.#over = resolve;
    });
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#wire = new StdioServerTransport(this.#lines, stdout, { maxBufferSize: 2 * MAX_LINE_BYTES });
  }

  async start(): Promise<void> {
    this.#wire.onclose = () => {
      // An input nobody reads any more would keep the process alive.
      this.#stdin.destroy();
      this.onclose?.();
      this.#over();
    };
    this.#wire.onerror = (error) => {
      const isShape = error instanceof SyntaxError || error.name === "ZodError";
      this.onerror?.(isShape ? new Error(NO_MESSAGE) : error);
      if (isShape) this.#stdout.write(PARSE_ERROR);
    };
    this.#wire.onmessage = (message) => {
      if ("method" in message && "id" in message) this.#unanswered.add(message.id);
      this.onmessage?.(message);
    };
    const ended = () => {
      this.#ended = true;
      // What was read last is still on its way through the pipe.
      setImmediate(() => this.#closeWhenAnswered());
    };
    this.#stdin.on("data", (chunk: Buffer) => this.#gather(chunk));
    this.#stdin.on("end", ended);
    this.#stdin.on("close", ended);
    await this.#wire.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#wire.send(inWords(message));
    if (!("method" in message) && "id" in message) this.#unanswered.delete(message.id);
    if (this.#ended) this.#closeWhenAnswered();
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  #gather(chunk: Buffer): void {
    this.isAsked = true;
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      this.#lines.write(Buffer.concat([...this.#pieces, chunk.subarray(0, end)]));
      this.#pieces = [];
      this.#pending = 0;
    }
    if (end < chunk.length) this.#pieces.push(chunk.subarray(end));
    this.#pending += chunk.length - end;
    if (this.#pending <= MAX_LINE_BYTES) return;
    this.onerror?.(new Error(`a message is larger than ${MAX_LINE_BYTES / 1024 / 1024} MB`));
    void this.#wire.close();
  }

  #closeWhenAnswered(): void {
    if (this.#unanswered.size === 0) void this.#wire.close();
  }
}

/** The SDK's refusals carry what its validator found, as JSON and in the validator's words. */
function inWords(message: JSONRPCMessage): JSONRPCMessage {
  if (!("error" in message)) return message;
  const [what, findings] = message.error.message.split(/: (?=[[{]\s)/, 2);
  if (findings === undefined) return message;
  return { ...message, error: { ...message.error, message: `${what}: its parameters are of another shape` } };
}
