// Standard input and output for the server. The SDK's own transport drops what it has not answered when the input ends;
// whoever pipes a few requests in and closes the pipe wants their answers first.
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Room for an artifact of the largest size and its escapes; a line beyond it ends the connection. */
const MAX_LINE_BYTES = 48 * 1024 * 1024;

const PARSE_ERROR = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC message"}}\n';

export class PatientTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;

  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #wire: StdioServerTransport;
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
    const input = new PassThrough();
    stdin.pipe(input, { end: false });
    this.#wire = new StdioServerTransport(input, stdout, { maxBufferSize: MAX_LINE_BYTES });
  }

  async start(): Promise<void> {
    this.#wire.onclose = () => {
      // An input nobody reads any more would keep the process alive.
      this.#stdin.destroy();
      this.onclose?.();
      this.#over();
    };
    this.#wire.onerror = (error) => {
      this.onerror?.(error);
      if (error instanceof SyntaxError || error.name === "ZodError") this.#stdout.write(PARSE_ERROR);
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
    this.#stdin.on("end", ended);
    this.#stdin.on("close", ended);
    await this.#wire.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#wire.send(message);
    if (!("method" in message) && "id" in message) this.#unanswered.delete(message.id);
    if (this.#ended) this.#closeWhenAnswered();
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  #closeWhenAnswered(): void {
    if (this.#unanswered.size === 0) void this.#wire.close();
  }
}
