// An answer on its way back: looked through piece by piece, and written as it may be seen.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { BulkPass } from "../../vault/index.js";
import { Refused } from "../judge.js";
import type { LongBody } from "./long-answer.js";

/** When nothing came for so long, whoever asked gets everything that is there. */
const PAUSE_MS = 2;
/** As much of an answer waits for whoever asked as comes in a few pieces: less would stop and go with each of them. */
const WAITING_BYTES = 256 * 1024;
/** With more than this of all answers together no piece is read before the last one is gone. */
const ALL_WAITING_BYTES = 4 * 1024 * 1024;
let allWaiting = 0;

/**
 * Piece by piece, no faster than whoever asked can take them. An answer that is cut by the other side, or grows too long,
 * ends as what it is: cut.
 */
export async function stream(
  body: LongBody,
  clean: BulkPass,
  response: ServerResponse,
  count: (length: number) => void,
): Promise<void> {
  response.flushHeaders();
  // Its turn comes when the answers to what was asked before it on this connection are given.
  if (response.socket === null && !response.destroyed) await Promise.race([once(response, "socket"), closed(response)]);
  const { socket } = response;
  if (socket === null || response.destroyed) throw new Error("whoever asked did not wait for the end");
  await new Promise<void>((resolve, reject) => {
    let [waiting, isPaused] = [0, false];
    const cut = (error: Error) => {
      response.destroy();
      // The status was given already: what follows is a connection that ends.
      reject(error instanceof Refused ? new Error(error.message) : error);
    };
    const give = (parts: readonly Buffer[], done: () => void) => {
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      if (length === 0) {
        done();
        return;
      }
      waiting += length;
      allWaiting += length;
      writeFrame(socket, parts, response.chunkedEncoding ? length : null, () => {
        waiting -= length;
        allWaiting -= length;
        done();
        if (!isPaused || waiting > WAITING_BYTES / 2) return;
        isPaused = false;
        body.resume();
      });
      if (waiting < (allWaiting > ALL_WAITING_BYTES ? 1 : WAITING_BYTES)) return;
      isPaused = true;
      body.pause();
    };
    const pause = setTimeout(() => give(clean.settle(), () => {}), PAUSE_MS);
    response.once("close", () => {
      clearTimeout(pause);
      if (response.writableFinished) resolve();
      else reject(new Error("whoever asked did not wait for the end"));
    });
    body.start({
      take: (pieces, done) => {
        if (response.destroyed) {
          done();
          return;
        }
        try {
          for (const { length } of pieces) count(length);
        } catch (error) {
          cut(error as Error);
          return;
        }
        give(
          pieces.flatMap((piece) => clean.take(piece)),
          done,
        );
        pause.refresh();
      },
      end: () => {
        clearTimeout(pause);
        give(clean.end(), () => {});
        response.end();
      },
      fail: cut,
    });
  });
}

/** Past the response, which would make a frame of every part. */
function writeFrame(socket: Socket, parts: readonly Buffer[], length: number | null, done: () => void): void {
  const isFramed = length !== null;
  socket.cork();
  if (isFramed) socket.write(Buffer.from(`${length.toString(16)}\r\n`, "latin1"));
  for (const [index, part] of parts.entries())
    if (isFramed || index + 1 < parts.length) socket.write(part);
    else socket.write(part, done);
  if (isFramed) socket.write(LINE_END, done);
  socket.uncork();
}

const LINE_END = Buffer.from("\r\n", "latin1");
const closed = (response: ServerResponse): Promise<unknown> =>
  new Promise((resolve) => {
    response.once("close", resolve);
  });
