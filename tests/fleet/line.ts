// A way to the server that can be cut without either end hearing of it, or be slow.
import { connect, createServer, type Server, type Socket } from "node:net";

export interface Line {
  readonly port: number;
  cut(): void;
  mend(): void;
  end(): void;
}

/** `bytesPerSecond`: in each direction of each connection. */
export async function startLine(target: number, bytesPerSecond = Number.POSITIVE_INFINITY): Promise<Line> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const carry = (from: Socket, to: Socket) => {
    from.on("data", (piece) => {
      if (isCut) return;
      to.write(piece);
      if (bytesPerSecond === Number.POSITIVE_INFINITY) return;
      from.pause();
      setTimeout(() => from.resume(), (piece.length / bytesPerSecond) * 1_000);
    });
  };
  const server: Server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    carry(near, far);
    carry(far, near);
    for (const end of pair) {
      end.on("error", () => {});
      end.on("close", () => {
        pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const drop = () => {
    for (const pair of pairs) for (const end of pair) end.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
      // What was lost in between cannot be made up for on the same line.
      drop();
    },
    end: () => {
      drop();
      server.close();
    },
  };
}
