// A role that lives as long as the run and may do what the credential's limits say: the database itself holds whoever uses it.
import { randomBytes } from "node:crypto";
import type { Policy, PostgresService } from "../policy.js";
import { end, type Link, type LoginInput, logIn, query, ServerError } from "./login.js";

export interface ShortRole {
  readonly user: string;
  readonly password: string;
  readonly until: Date;
  drop(): Promise<void>;
}

/** It cannot be used longer than this without being made anew, should nobody be left to drop it. */
const LONGEST_MS = 24 * 3_600_000;
const NAME = /^nut_[0-9a-f]{16}$/;

export const needsRole = ({ limits }: Policy): boolean => limits.readOnly || limits.tables !== null;

/** Null when the login may not make one: then its limits are only promised. */
export async function makeRole(
  policy: Policy,
  service: PostgresService,
  how: Pick<LoginInput, "pins" | "ca">,
  now: Date,
): Promise<ShortRole | null> {
  const login = { service, user: service.user, password: service.password, parameters: {}, ...how };
  const link = await logIn(login);
  const name = `nut_${randomBytes(8).toString("hex")}`;
  const password = randomBytes(24).toString("hex");
  const { expiresAt } = policy.limits;
  const ends = Math.min(
    now.getTime() + LONGEST_MS,
    expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
  );
  const until = new Date(ends);
  try {
    await sweep(link);
    const may = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS";
    await query(link, `CREATE ROLE ${name} ${may} PASSWORD '${password}' VALID UNTIL '${until.toISOString()}'`);
    try {
      await query(link, await grants(link, name, policy, service));
    } catch (error) {
      await query(link, `DROP OWNED BY ${name}; DROP ROLE ${name}`).catch(() => null);
      throw error;
    }
  } catch (error) {
    // insufficient_privilege: the login is no administrator.
    if (error instanceof ServerError && error.code === "42501") return null;
    throw error;
  } finally {
    end(link);
  }
  return { user: name, password, until, drop: () => drop(login, name) };
}

async function grants(link: Link, role: string, { limits }: Policy, { database }: PostgresService): Promise<string> {
  const rights = limits.readOnly ? "SELECT" : "SELECT, INSERT, UPDATE, DELETE";
  const schemas = (
    await query(link, "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'")
  ).map(([name]) => name!);
  const lines = [`GRANT CONNECT ON DATABASE ${quoted(database)} TO ${role}`];
  const used = limits.tables === null ? schemas : [...new Set(limits.tables.map((table) => schemaOf(table)))];
  for (const schema of used) lines.push(`GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${role}`);
  if (limits.tables === null) {
    for (const schema of used) lines.push(`GRANT ${rights} ON ALL TABLES IN SCHEMA ${quoted(schema)} TO ${role}`);
  } else {
    for (const table of limits.tables) lines.push(`GRANT ${rights} ON TABLE ${tableName(table)} TO ${role}`);
  }
  if (limits.readOnly) lines.push(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
  else for (const schema of used) lines.push(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${quoted(schema)} TO ${role}`);
  return lines.join("; ");
}

const schemaOf = (table: string): string => (table.includes(".") ? table.split(".")[0]! : "public");
const tableName = (table: string): string => `${quoted(schemaOf(table))}.${quoted(table.split(".").slice(-1)[0]!)}`;
const quoted = (name: string): string => `"${name.replaceAll('"', '""').replaceAll("\0", "")}"`;

/** Roles of runs that were killed, once their time is over. */
async function sweep(link: Link): Promise<void> {
  const over =
    "SELECT rolname FROM pg_roles WHERE rolname ~ '^nut_[0-9a-f]{16}$' AND rolvaliduntil < now() - interval '1 hour'";
  for (const [name] of await query(link, over).catch(() => [])) {
    if (NAME.test(name!)) await query(link, `DROP OWNED BY ${name}; DROP ROLE ${name}`).catch(() => null);
  }
}

async function drop(login: LoginInput, name: string): Promise<void> {
  const link = await logIn(login);
  try {
    await query(link, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`).catch(
      () => [],
    );
    await query(link, `DROP OWNED BY ${name}; DROP ROLE ${name}`);
  } finally {
    end(link);
  }
}
