import { NutError, shellWord } from "../errors.js";

export const DEFAULT_ADDRESS = "http://127.0.0.1:3998";
const DEFAULT_PORT = "3998";

/** Reads `--clawnet host[:port]|url`. Plain http unless the URL says https; any path is dropped. */
export function parseAddress(text: string = DEFAULT_ADDRESS): URL {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  let url: URL;
  try {
    url = new URL(withScheme);
  } catch {
    throw badAddress(text);
  }
  if ((url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "" || url.username !== "") {
    throw badAddress(text);
  }
  if (url.port === "" && !/:(80|443)\/?$/.test(withScheme)) url.port = DEFAULT_PORT;
  return new URL(url.origin);
}

/** A command line for the same daemon: an address that was typed is typed again. */
export const lineAt = (typed: string | undefined, words: string): string =>
  typed === undefined ? `nutshell ${words}` : `nutshell ${words} --clawnet ${shellWord(typed)}`;

function badAddress(text: string): NutError {
  return new NutError("MARKET_BAD_ADDRESS", `"${text}" is not an address of a ClawNet daemon`, {
    hint: "--clawnet 127.0.0.1:3998",
  });
}

/** Whether traffic to this address stays on the machine. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
