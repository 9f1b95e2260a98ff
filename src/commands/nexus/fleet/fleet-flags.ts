// What every `nexus fleet` command is told: where the server is, and who asks.
import { join } from "node:path";
import { z } from "zod";
import { readConfig } from "../../../catalog/config.js";
import { flag } from "../../../cli/fields.js";
import { type Fleet, type ServerSettings, serverSettings, withFleet } from "../../../fleet/index.js";
import type { Context } from "../../../operation.js";
import { openProject } from "../../../state/index.js";

const text = () => z.string().min(1).optional();

export const FLEET_FLAGS = {
  server: flag(text(), {
    value: "<url>",
    about: "nats://127.0.0.1:4222 or tls://host:4222, several with commas (also: NATS_URL, .nexus/config.yml)",
  }),
  context: flag(text(), { value: "<name>", about: "a context of the nats program (also: NATS_CONTEXT)" }),
  creds: flag(text(), { value: "<file>", about: "credentials of a user (also: NATS_CREDS)" }),
  nkey: flag(text(), { value: "<file>", about: "the seed of a user's nkey (also: NATS_NKEY)" }),
  user: flag(text(), { value: "<name>", about: "a user of the server (also: NATS_USER, with NATS_PASSWORD)" }),
  passwordFile: flag(text(), { value: "<file>", about: "where the user's password is" }),
  ca: flag(text(), { value: "<file>", about: "whose certificates are believed with tls:// (also: NATS_CA)" }),
  cert: flag(text(), { value: "<file>", about: "our own certificate, where the server asks for one" }),
  certKey: flag(text(), { value: "<file>", about: "its key" }),
};

export interface FleetInput {
  readonly server?: string | undefined;
  readonly context?: string | undefined;
  readonly creds?: string | undefined;
  readonly nkey?: string | undefined;
  readonly user?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly certKey?: string | undefined;
}

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
