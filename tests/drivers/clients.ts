// The real agents, from the cache that the tests share. A client that is not there is a named skip.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../.cache/clients/node_modules/.bin", import.meta.url));

export const clientsFolder: string = folder;
export const hasClient = (name: string): boolean => existsSync(`${folder}/${name}`);
