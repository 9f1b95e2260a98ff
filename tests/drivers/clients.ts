import { dirname } from "node:path";
import { type Client, clientProgram, nodeFor } from "../hosts/clients.js";

/** PATH with the real client in front; null when it cannot be had here. */
export function pathWith(client: Client): string | null {
  const program = clientProgram(client);
  if (program === null) return null;
  return [nodeFor(client), dirname(program), process.env.PATH].filter((part) => part !== "").join(":");
}
