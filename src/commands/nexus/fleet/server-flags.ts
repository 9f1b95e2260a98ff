// What every command that asks a fleet's server is told. Apart, so that reading flags loads no client.
import { z } from "zod";
import { flag } from "../../../cli/fields.js";
import { shellWord } from "../../../errors.js";

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

/** Where the fleet is and who asks, as it was typed. */
export function fleetWords(input: FleetInput): string[] {
  return (Object.keys(FLEET_FLAGS) as (keyof FleetInput)[]).flatMap((field) => {
    const name = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return input[field] === undefined ? [] : [`--${name} ${shellWord(input[field])}`];
  });
}
