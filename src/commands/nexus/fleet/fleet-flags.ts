// Where the server is and who asks, from what every `nexus fleet` command is told.
import { join } from "node:path";
import { readConfig } from "../../../catalog/config.js";
import { type Fleet, type ServerSettings, serverSettings, withFleet } from "../../../fleet/index.js";
import type { Context } from "../../../operation.js";
import { openProject } from "../../../state/index.js";
import type { FleetInput } from "./server-flags.js";

export { FLEET_FLAGS } from "./server-flags.js";

/** The project's own word on the fleet is read with the rest of its configuration. */
export async function settingsOf(input: FleetInput, context: Context): Promise<ServerSettings> {
  const project = openProject(context.cwd, { env: context.env });
  const { fleet: config = {} } = await readConfig(join(project.layout.nexus, "config.yml"));
  const { server, context: name, creds, nkey, user, passwordFile, ca, cert, certKey } = input;
  const flags = { server, context: name, creds, nkey, user, password_file: passwordFile, ca, cert, key: certKey };
  return serverSettings({ flags: definedOnly(flags), config, root: project.root }, context);
}

function definedOnly<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** For commands that ask and end. */
export async function ask<T>(input: FleetInput, context: Context, use: (fleet: Fleet) => Promise<T>): Promise<T> {
  return withFleet(await settingsOf(input, context), { name: "nexus fleet", patient: false }, use);
}
