// Roles that live as long as the run and may do what the credential's limits say: the database itself holds whoever uses it.
// One has the rights and cannot log in. Each connection has one of its own, which can log in until it has: a role may change
// its own password, and whoever did that would come back without us.
import { randomBytes } from "node:crypto";
import type { Policy, PostgresService } from "../policy.js";
import { end, type Link, type LoginInput, logIn, query, ServerError } from "./login.js";

export interface ShortRole {
  readonly until: Date;
  /** A connection as somebody who has its rights, and how they are taken back when it ends. */
  connect(parameters: Readonly<Record<string, string>>): Promise<{ readonly link: Link; drop(): Promise<void> }>;
  drop(): Promise<void>;
}

/** It cannot be used longer than this without being made anew, should nobody be left to drop it. */
const LONGEST_MS = 24 * 3_600_000;
const NAME = /^nut_[0-9a-f]{16}$/;
const newName = (): string => `nut_${randomBytes(8).toString("hex")}`;

export const needsRole = ({ limits }: Policy): boolean => limits.readOnly || limits.tables !== null;

/** Nothing that is not granted. */
const PLAIN = "NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS";

/** Null when the login may not make one: then its limits are only promised. */
export async function makeRole(
  policy: Policy,
  service: PostgresService,
  how: Pick<LoginInput, "pins" | "ca">,
  now: Date,
): Promise<ShortRole | null> {
  const login = { service, user: service.user, password: service.password, parameters: {}, ...how };
  const link = await logIn(login);
  const name = newName();
  const { expiresAt } = policy.limits;
  const ends = Math.min(
    now.getTime() + LONGEST_MS,
    expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
  );
  const until = new Date(ends);
  const valid = `VALID UNTIL '${until.toISOString()}'`;
  try {
    await sweep(link);
    await query(link, `CREATE ROLE ${name} NOLOGIN ${PLAIN} ${valid}`);
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
  return {
    until,
    connect: (parameters) => connectAs({ login, group: name, valid, policy, parameters }),
    drop: () => drop(login, name),
  };
}

interface Connecting {
  readonly login: LoginInput;
  readonly group: string;
  readonly valid: string;
  readonly policy: Policy;
  readonly parameters: Readonly<Record<string, string>>;
}

async function connectAs({ login, group, valid, policy, parameters }: Connecting) {
  const [user, password] = [newName(), randomBytes(24).toString("hex")];
  const ours = await logIn(login);
  try {
    const reads = policy.limits.readOnly ? `; ALTER ROLE ${user} SET default_transaction_read_only = on` : "";
    await query(
      ours,
      `CREATE ROLE ${user} LOGIN INHERIT ${PLAIN} PASSWORD '${password}' ${valid} IN ROLE ${group}${reads}`,
    );
    const link = await logIn({ ...login, user, password, parameters });
    try {
      await query(ours, `ALTER ROLE ${user} NOLOGIN`);
    } catch (error) {
      link.socket.destroy();
      throw error;
    }
    return { link, drop: () => drop(login, user) };
  } catch (error) {
    await query(ours, `DROP ROLE ${user}`).catch(() => null);
    throw error;
  } finally {
    end(ours);
  }
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
  if (!limits.readOnly)
    for (const schema of used) lines.push(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${quoted(schema)} TO ${role}`);
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
