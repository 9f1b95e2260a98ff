// One request with exactly the headers it is given: nothing a browser or fetch would add.
import { request } from "node:http";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Rejects when the connection is cut before the answer is whole. */
export function ask(port: number, path: string, { method = "GET", headers = {}, body }: Asking = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (bytes: Buffer) => parts.push(bytes));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts).toString("utf8"),
        }),
      );
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** Exchanges a one-time link as the page does; the answer holds the key. */
export function enter(port: number, link: string, headers: Asking["headers"] = {}): Promise<Reply> {
  return ask(port, "/enter", { headers: { "x-nutcracker-link": linkOf(link), ...headers } });
}

export const linkOf = (link: string): string => new URL(link).hash.replace("#link=", "");

/** The key in such an answer, as it is sent with every question. */
export function keyOf({ body }: Reply): { "x-nutcracker-key": string } {
  return { "x-nutcracker-key": (JSON.parse(body) as { key: string }).key };
}
