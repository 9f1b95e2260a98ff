// Which headers go out and which come back. Lists of names in lower case.
import type { IncomingHttpHeaders } from "node:http";
import { plainName } from "../judge.js";
import type { HttpAuth } from "../policy.js";

/** Of one connection only; and what would let a secret be seen piece by piece, or something else be let in. */
const NOT_OUT = new Set([
  ..."connection keep-alive proxy-connection proxy-authorization proxy-authenticate te trailer transfer-encoding".split(
    " ",
  ),
  ..."upgrade host expect authorization cookie accept-encoding range if-range max-forwards http2-settings".split(" "),
  ..."x-forwarded-for x-real-ip via x-forwarded-proto x-forwarded-port accept-charset".split(" "),
]);

/** A session that a service opened for the secret is as good as the secret. */
const NOT_BACK = new Set([
  ..."connection keep-alive proxy-authenticate proxy-connection trailer transfer-encoding upgrade".split(" "),
  ..."set-cookie set-cookie2 content-encoding alt-svc accept-ranges www-authenticate authentication-info".split(" "),
]);

export function headersOut(
  headers: IncomingHttpHeaders,
  auth: HttpAuth,
  host: string,
): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  const out: Record<string, string | string[]> = {};
  const own = auth.scheme === "header" ? auth.header.toLowerCase() : "authorization";
  for (const [name, value] of Object.entries(headers)) {
    const read = plainName(name);
    if (value !== undefined && !NOT_OUT.has(read) && !named.has(name) && read !== plainName(own)) out[name] = value;
  }
  // A body without an end of its own would be taken for the next request, whatever the method.
  if (headers["transfer-encoding"] !== undefined) out["transfer-encoding"] = "chunked";
  else if (headers["content-length"] !== undefined) out["content-length"] = headers["content-length"];
  // What is compressed cannot be looked through.
  out["accept-encoding"] = "identity";
  out.host = host;
  if (auth.scheme === "header") out[auth.header] = auth.secret;
  else if (auth.scheme === "bearer") out.authorization = `Bearer ${auth.secret}`;
  else if (auth.scheme === "basic")
    out.authorization = `Basic ${Buffer.from(`${auth.user}:${auth.secret}`).toString("base64")}`;
  return out;
}

/** The query with the secret in it, where that is its place; whatever stood under its name is gone. */
export function queryOut(query: string, auth: HttpAuth): string {
  if (auth.scheme !== "query") return query;
  const kept = query.split("&").filter((part) => part !== "" && nameIn(part) !== auth.parameter);
  return [...kept, `${encodeURIComponent(auth.parameter)}=${encodeURIComponent(auth.secret)}`].join("&");
}

function nameIn(part: string): string {
  const name = part.split("=", 1)[0]!.replaceAll("+", " ");
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

export function headersBack(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  return Object.fromEntries(
    Object.entries(headers).filter(
      (row): row is [string, string | string[]] => row[1] !== undefined && !NOT_BACK.has(row[0]) && !named.has(row[0]),
    ),
  );
}
