import { dirname } from "node:path";
import { type Client, clientProgram } from "../hosts/clients.js";

/** PATH with the real client in front; null when it cannot be had here. */
export function pathWith(client: Client): string | null {
  const program = clientProgram(client);
  return program === null ? null : `${dirname(program)}:${process.env.PATH}`;
}
