// How an agent would try: by requests, and by bytes on a connection of its own.
import { connect } from "node:net";
import type { Lender, Terms } from "./service.js";

/** Only reading, and only below /v1/users. */
export const NARROW: Terms = { scopes: ["read"], restrictions: { paths: "/users,/users/**" } };
/** Reading and adding, nothing else. */
export const ADDS: Terms = { restrictions: { methods: "GET,POST", paths: "/users,/users/**" } };
export const WIDE: Terms = {};

/** What an agent gets for bytes on a connection of its own, until it is closed or silent. */
export function raw({ broker }: Lender, bytes: string, silentMs = 250): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(new URL(broker.origin).port), "127.0.0.1", () => socket.write(bytes, "latin1"));
    const done = () => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(silentMs, done);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", done);
    socket.on("close", done);
  });
}

export const at = ({ token }: Lender, path: string) => `/${token}/api${path}`;
export const line = (lent: Lender, method: string, path: string, headers: readonly string[] = [], body = "") =>
  `${method} ${at(lent, path)} HTTP/1.1\r\nHost: x\r\n${headers.map((header) => `${header}\r\n`).join("")}Connection: close\r\n\r\n${body}`;
export const asked = async (url: string, init: RequestInit = {}) => {
  const answer = await fetch(url, { redirect: "manual", ...init });
  return `${JSON.stringify([...answer.headers])} ${await answer.text()}`;
};

export type Attempt = (lent: Lender) => Promise<string>;
export const get =
  (path: string, ...headers: string[]): Attempt =>
  (lent) =>
    raw(lent, line(lent, "GET", path, headers));
export const send =
  (method: string, path: string, headers: string[] = [], body = ""): Attempt =>
  (lent) =>
    raw(lent, line(lent, method, path, body === "" ? headers : [`Content-Length: ${body.length}`, ...headers], body));
