// What passes between an agent and the library that speaks the protocol. The library writes to the terminal about messages it
// cannot use, and an agent could speak there through it: so it gets requests and the answers it waits for. What the agent
// tells on the way is heard here, one after the other, ahead of the answer that ends the turn.
import { Readable, Writable } from "node:stream";
import { methods, ndJsonStream, type Stream } from "@agentclientprotocol/sdk/unstable";
import { at } from "./agent-process.js";

type Message = Stream["readable"] extends ReadableStream<infer One> ? One : never;

/** `onUpdate` gets what stands in a session's update, whatever that is. */
export function quietStream(
  { stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable },
  onUpdate: (update: unknown) => void,
): Stream {
  const { readable, writable } = ndJsonStream(
    Writable.toWeb(stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
  );
  const awaited = new Set<unknown>();
  const asks = new TransformStream<Message, Message>({
    transform: (message, controller) => {
      if ("method" in message && "id" in message) awaited.add(message.id);
      controller.enqueue(message);
    },
  });
  const hears = new TransformStream<Message, Message>({
    transform: (message, controller) => {
      if (at(message, "method") === undefined) {
        if (awaited.delete(at(message, "id"))) controller.enqueue(message);
      } else if (at(message, "id") !== undefined) controller.enqueue(message);
      else if (at(message, "method") === methods.client.session.update) onUpdate(at(message, "params", "update"));
    },
  });
  // It ends with the agent: whoever asks then is told so by the other half.
  void asks.readable.pipeTo(writable).catch(() => {});
  return { readable: readable.pipeThrough(hears), writable: asks.writable };
}
