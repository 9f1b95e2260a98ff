// A stand-in for ClawNet daemons, written from the contract: one HTTP server per node on loopback, and one for control.
// It shows agreement with our reading of the daemon's source, not with a live network.
import { createServer } from "node:http";
import { answer, MAX_BODY } from "./api.mjs";
import { Network } from "./network.mjs";

function readBody(request) {
  return new Promise((resolve) => {
    const chunks = [];
    let size = 0;
    request.on("data", (chunk) => {
      size += chunk.length;
      if (size <= MAX_BODY) chunks.push(chunk);
    });
    request.on("end", () => resolve({ body: Buffer.concat(chunks), tooLarge: size > MAX_BODY }));
  });
}

/** Resolves with {control, nodes: [{url, peerId, seed, publicKey}], stop}; the addresses are of loopback. */
export async function serve({ nodes: count = 2, profile = "clawnet-1.0.0-beta.9" } = {}) {
  const network = new Network({ nodes: count, profile });
  /** Every request seen, so that a test can prove that nothing was sent. */
  const log = [];
  /** {node, method, path (regular expression), kind, times, …} */
  let faults = [];
  const servers = [];

  function takeFault(node, request) {
    const fault = faults.find(
      (one) =>
        (one.node ?? node.index) === node.index &&
        (one.method ?? request.method) === request.method &&
        new RegExp(one.path ?? ".").test(request.path) &&
        one.times > 0,
    );
    if (fault !== undefined) fault.times -= 1;
    return fault;
  }

  function serveNode(node) {
    return createServer(async (incoming, response) => {
      const url = new URL(incoming.url, "http://double");
      const { body, tooLarge } = await readBody(incoming);
      const request = {
        method: incoming.method,
        path: incoming.url.split("?")[0],
        query: url.searchParams,
        headers: incoming.headers,
        body,
        tooLarge,
      };
      const text = body.length < 100_000 && !/octet|multipart/.test(incoming.headers["content-type"] ?? "");
      log.push({
        node: node.index,
        method: request.method,
        path: request.path,
        size: body.length,
        body: text ? body.toString() : null,
      });
      if (profile === "anet-1.x") {
        response.writeHead(401, { "Content-Type": "application/json", "WWW-Authenticate": "Bearer" });
        return response.end('{"error":"unauthorized"}\n');
      }
      const fault = takeFault(node, request);
      if (fault?.kind === "hang") return;
      if (fault?.kind === "reset") return incoming.socket.destroy();
      if (fault?.kind === "redirect") {
        response.writeHead(302, { Location: fault.location });
        return response.end();
      }
      if (fault?.kind === "status") {
        response.writeHead(fault.status, { "Content-Type": "text/plain" });
        return response.end(fault.body ?? "");
      }
      if (fault?.kind === "stranger") {
        response.writeHead(200, { "Content-Type": "text/html" });
        return response.end("<!doctype html><title>another server</title>");
      }
      const { status, headers, body: bytes } = answer(node, request);
      // The change is made, the answer is lost.
      if (fault?.kind === "lose-answer") return incoming.socket.destroy();
      if (fault?.kind === "error-after-commit") {
        response.writeHead(500, { "Content-Type": "text/plain" });
        return response.end("database is locked\n");
      }
      if (fault?.kind === "truncate") {
        response.writeHead(status, { ...headers, "Content-Length": bytes.length });
        response.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
        return setTimeout(() => incoming.socket.destroy(), 20);
      }
      if (fault?.kind === "endless") {
        response.writeHead(200, headers);
        const pump = () => {
          while (!response.destroyed && response.write(Buffer.alloc(1 << 20, 0x20)));
        };
        response.on("drain", pump);
        return pump();
      }
      const sent = fault?.kind === "wrong-bytes" ? Buffer.concat([bytes, Buffer.from("!")]) : bytes;
      response.writeHead(status, { ...headers, "Content-Length": sent.length });
      response.end(incoming.method === "HEAD" ? undefined : sent);
    });
  }

  const CONTROL = {
    log: () => log,
    clear: () => log.splice(0).length,
    fault: (body) => {
      faults.push({ times: 1, ...body });
      return faults.length;
    },
    heal: () => {
      faults = [];
      return 0;
    },
    advance: ({ ms }) => {
      network.offsetMs += ms;
      network.tick();
      return network.now();
    },
    gossip: ({ mode }) => {
      if (mode !== undefined) network.gossipMode = mode;
      network.deliver();
      return network.queue.length;
    },
    cut: ({ node, cut }) => {
      if (cut) network.cut.add(node);
      else network.cut.delete(node);
      return [...network.cut];
    },
    account: ({ node, account }) => {
      if (account !== undefined) network.nodes[node].account = account;
      return network.nodes[node].account;
    },
    queue: ({ node, queue }) => {
      network.nodes[node].queuePublishes = queue;
      return queue;
    },
    /** Rewrites stored task fields, to serve old, odd or hostile rows. */
    task: ({ node, id, fields }) => Object.assign(network.nodes[node].tasks.get(id), fields),
  };

  const control = createServer(async (request, response) => {
    const { body } = await readBody(request);
    const result = CONTROL[request.url.slice(1)](body.length === 0 ? {} : JSON.parse(body.toString()));
    response.end(JSON.stringify(result ?? null));
  });

  const listen = (server) => {
    servers.push(server);
    return new Promise((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`)),
    );
  };
  const nodes = [];
  for (const node of network.nodes) {
    const { seed, publicKey } = node.identity;
    const url = await listen(serveNode(node));
    nodes.push({ url, peerId: node.peerId, seed: seed.toString("hex"), publicKey: publicKey.toString("hex") });
  }
  const stop = async () => {
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  };
  return { control: await listen(control), nodes, stop };
}
