// A vendor's token server, as the programs find it: they connect to their vendor's name through the proxy the environment
// names, and trust the authority it names. Every renewing token works once; one that is used again is told so and logged.
// Usage: node token-server.mjs <key> <certificate> <first refresh token>. Prints its port, then one JSON line per request.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";

const [, , key, cert, first] = process.argv;
let current = first;
let serial = 0;

const jwt = (claims) =>
  ["{}", JSON.stringify(claims), "signed"].map((part) => Buffer.from(part).toString("base64url")).join(".");

function renewed(host) {
  serial += 1;
  current = `refresh-token-${serial}`;
  const auth = { "https://api.openai.com/auth": { chatgpt_account_id: "account-1", chatgpt_plan_type: "plus" } };
  const exp = Math.floor(Date.now() / 1_000) + 28_800;
  if (host.includes("openai")) {
    const token = jwt({ ...auth, exp, email: "a@example.org", n: serial });
    return { id_token: token, access_token: token, refresh_token: current };
  }
  return {
    token_type: "Bearer",
    access_token: `sk-ant-oat01-access-${serial}`,
    refresh_token: current,
    expires_in: 28_800,
    scope: "user:inference user:profile",
    account: { uuid: "account-1", email_address: "a@example.org" },
    organization: { uuid: "org-1", name: "org" },
  };
}

const vendor = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
  let body = "";
  request.on("data", (part) => {
    body += part;
  });
  request.on("end", () => {
    const host = request.headers.host ?? "";
    const asked = /refresh_token"?[=:]"?([\w-]+)(?:"|&|$)/.exec(
      body.replaceAll("grant_type=refresh_token", "").replaceAll('"grant_type":"refresh_token"', ""),
    )?.[1];
    const isToken = (request.url ?? "").includes("/oauth/token");
    const good = isToken && asked === current;
    console.log(JSON.stringify({ host, url: request.url, token: asked, good, at: Date.now() }));
    const answer = () => {
      response.writeHead(good ? 200 : isToken ? 400 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(good ? renewed(host) : { error: "invalid_grant", error_description: "spent" }));
    };
    setTimeout(answer, 100);
  });
});

const proxy = createServer((_, response) => response.writeHead(404).end());
proxy.on("connect", (_, socket, head) => {
  const inner = connect(vendor.address().port, "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    inner.write(head);
    socket.pipe(inner).pipe(socket);
  });
  inner.on("error", () => socket.destroy());
  socket.on("error", () => inner.destroy());
});
vendor.listen(0, "127.0.0.1", () => proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port)));
