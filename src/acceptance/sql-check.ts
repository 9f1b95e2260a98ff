// sql_check: one query, its rows compared. PostgreSQL through psql in a read-only transaction, its credential in the
// environment; SQLite through the sqlite3 program, or Node's own where that is missing.
import { isIP } from "node:net";
import { posix } from "node:path";
import { type Environment, javascriptEngine } from "../process/index.js";
import type { AcceptanceCredential } from "./credential.js";
import { freshLogin, freshPostgres } from "./fresh-postgres.js";
import { REACH } from "./line-programs.js";
import type { Check, Outcome } from "./model.js";
import { failed, passed, refuted, skipped } from "./outcome.js";
import { inside } from "./plan/paths.js";
import { agreedAddresses, NotReached } from "./reach.js";
import type { Room, RoomCommand, RoomOptions } from "./room/rooms.js";
import { inRoom, type Stage, through, unlessRefused } from "./run-program.js";
import { logOf } from "./runners/outcomes.js";
import { withService } from "./service.js";
import { openWaysOut, type Way, waysTo } from "./ways-out.js";

type Rows = readonly (readonly string[])[];

export async function runSqlCheck(
  check: Check,
  stage: Stage,
  { credential, allowOrigins = [] }: { credential: AcceptanceCredential | null; allowOrigins?: readonly string[] },
): Promise<Outcome> {
  const { query } = check;
  if (query === undefined) return skipped("there is no query to run");
  // psql and sqlite3 obey commands of their own that start like this; a check is a query.
  if (/^\s*[\\.]/.test(query)) return failed("the query is not SQL");
  if (check.database === "postgres") return fresh(check, stage);
  const database = check.database ?? (credential?.type === "sqlite" ? pathOf(credential.value) : undefined);
  if (database !== undefined) return sqlite(check, stage, database);
  if (credential === null) {
    const name = check.credential_ref;
    return skipped(
      name === undefined
        ? "no database: name one with credential_ref or database"
        : `credential "${name}" could not be opened`,
    );
  }
  const environment = postgresEnvironment(credential.value);
  if (environment === null) return failed(`credential of type ${credential.type} does not say where the database is`);
  return postgres(check, stage, environment, allowOrigins);
}

/** psql reaches the database's address and nothing else, and one of this machine or its network only when it was named. */
async function postgres(
  check: Check,
  stage: Stage,
  login: Environment,
  allowOrigins: readonly string[],
): Promise<Outcome> {
  if (stage.rooms.findProgram("psql") === null) return skipped("psql is not installed");
  const way = wayTo(login, allowOrigins);
  if (way === null) return ask(check, stage, { network: "none" }, () => psql(check, login));
  if (!stage.rooms.apart) return inTheOpen(check, stage, login, way);
  const open = await openWaysOut([way]);
  try {
    const [listen] = open.listens;
    // The name stays what a certificate is compared with.
    const command = psql(check, { ...login, PGHOSTADDR: listen!.address });
    const outcome = await ask(check, stage, { network: "none", ways: open }, (room) =>
      through(REACH, [room.ways, JSON.stringify(open.listens)], command),
    );
    return unlessRefused(outcome, open.refused());
  } finally {
    open.close();
  }
}

/** Without a network of its own: what the name means is looked at here, and psql asks there. */
async function inTheOpen(check: Check, stage: Stage, login: Environment, way: Way): Promise<Outcome> {
  try {
    const [address] = await agreedAddresses(way.host, way);
    return await ask(check, stage, { network: "host" }, () => psql(check, { ...login, PGHOSTADDR: address }));
  } catch (error) {
    if (error instanceof NotReached) return skipped(error.message);
    return failed(`${way.host} could not be looked up`);
  }
}

/** null for a socket, which no room has. */
function wayTo({ PGHOST = "", PGPORT = "5432" }: Environment, allowOrigins: readonly string[]): Way | null {
  const host = isIP(PGHOST) === 6 ? `[${PGHOST}]` : PGHOST;
  if (/^[/@]/.test(host)) return null;
  const [way] = waysTo([`postgres://${host}:${PGPORT}`], allowOrigins);
  return way ?? null;
}

function psql(check: Check, login: Environment): Command {
  const limits = `-c default_transaction_read_only=on -c statement_timeout=${check.timeoutMs}`;
  return {
    command: "psql",
    args: ["-X", "--csv", "--tuples-only", "-w", "-v", "ON_ERROR_STOP=1", "-c", check.query!],
    env: { ...login, PGOPTIONS: limits, PGCONNECT_TIMEOUT: "10", PGCLIENTENCODING: "UTF8" },
  };
}

/** A database that is made for this run. */
async function fresh(check: Check, stage: Stage): Promise<Outcome> {
  const { rooms, tree } = stage;
  const service = freshPostgres(check, rooms);
  if (service === null || rooms.findProgram("psql") === null) return skipped("PostgreSQL is not installed");
  if (!rooms.sandboxed && process.getuid?.() === 0) return skipped("PostgreSQL does not run as root without a sandbox");
  if (check.setup !== undefined && (!inside(check.setup) || !tree.view.exists(check.setup))) {
    return failed(`${check.setup} does not exist`);
  }
  const now: Stage = { ...stage, turn: (work) => work() };
  return stage.turn(async () => {
    const { answer, log, lastWords } = await withService(now, service, (folder) =>
      ask(check, now, { network: "none", line: { folder, access: "read-only" } }, ({ line }) =>
        psql(check, freshLogin(line)),
      ),
    );
    return answer ?? { ...failed(lastWords ?? "the database was not ready in time"), log };
  });
}

async function sqlite(check: Check, stage: Stage, database: string): Promise<Outcome> {
  if (!inside(database) || !stage.tree.view.exists(database)) {
    return failed(`database ${database} does not exist in the result`);
  }
  // A link could lead to any file of the room; a database is a plain one.
  if (stage.tree.layers.entries.get(database)?.type !== "file") return failed(`database ${database} is not a file`);
  const own = stage.rooms.findProgram("sqlite3") === null;
  const command = (path: string) =>
    own
      ? { ...javascriptEngine(), args: ["-e", NODE_SQLITE, path, check.query!] }
      : { command: "sqlite3", args: ["-batch", "-readonly", "-safe", "-csv", path, check.query!] };
  return ask(check, stage, { network: "none" }, (room) => command(posix.join(room.tree, database)));
}

type Command = Pick<RoomCommand, "command" | "args" | "env">;

async function ask(
  check: Check,
  stage: Stage,
  options: RoomOptions,
  commandIn: (room: Room) => Command,
): Promise<Outcome> {
  const { outcome } = await inRoom(stage, options, async (room) => {
    const command = commandIn(room);
    const result = await room.run({ ...command, timeoutMs: check.timeoutMs, signal: stage.signal });
    const log = logOf(result);
    if (result.code === 69) return { outcome: skipped("sqlite3 is not installed") };
    if (result.code !== 0) {
      return { outcome: { ...failed(firstLine(result.stderr.text) ?? `${command.command} failed`), log } };
    }
    return { outcome: { ...compareRows(check, parseCsv(result.stdout.text)), log, forgeable: false } };
  });
  return outcome;
}

/** 69 says that this Node has no SQLite of its own (before 22). */
const NODE_SQLITE = `
let sqlite;
try { sqlite = require("node:sqlite"); } catch { process.exit(69); }
const [path, query] = process.argv.slice(1);
const cell = (value) => (value === null ? "" : '"' + String(value).replaceAll('"', '""') + '"');
for (const row of new sqlite.DatabaseSync(path, { readOnly: true }).prepare(query).all()) {
  console.log(Object.values(row).map(cell).join(","));
}
`;

/** A value is compared with the first column of the first row, a list with all rows. */
function compareRows({ expected = {} }: Check, rows: Rows): Outcome {
  if (expected.result === undefined) return rows.length > 0 ? passed() : refuted("the query gave no rows");
  const wanted = normal(expected.result);
  const got = Array.isArray(expected.result) ? rowsLike(expected.result, rows) : (rows[0]?.[0] ?? null);
  if (JSON.stringify(got) === JSON.stringify(wanted)) return passed();
  return refuted(`result ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);
}

/** CSV has only text, so expectations become text too: 1 and "1" are the same answer, true is t in PostgreSQL's words. */
function normal(value: unknown): unknown {
  if (value === null) return "";
  if (value === true) return "t";
  if (value === false) return "f";
  if (Array.isArray(value)) return value.map(normal);
  return typeof value === "object" ? Object.values(value).map(normal) : String(value);
}

function rowsLike(expected: readonly unknown[], rows: Rows): unknown {
  const nested = expected.some((row) => row !== null && typeof row === "object");
  return nested ? rows : rows.map(([first]) => first ?? "");
}

export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cells = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/gy;
  for (let at = 0; at < text.length; at = cells.lastIndex) {
    cells.lastIndex = at;
    const match = cells.exec(text);
    if (match === null) break;
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

/** Connection settings as libpq's own variables; null when the value names no host. */
export function postgresEnvironment(value: AcceptanceCredential["value"]): Environment | null {
  if (typeof value === "string") {
    if (!URL.canParse(value)) return null;
    const url = new URL(value);
    if (!/^postgres(ql)?:$/.test(url.protocol)) return null;
    return {
      PGHOST: decodeURIComponent(url.hostname.replace(/^\[|\]$/g, "")) || (url.searchParams.get("host") ?? "127.0.0.1"),
      PGPORT: url.port || undefined,
      PGUSER: decodeURIComponent(url.username) || undefined,
      PGPASSWORD: decodeURIComponent(url.password) || undefined,
      PGDATABASE: decodeURIComponent(url.pathname.slice(1)) || undefined,
      PGSSLMODE: url.searchParams.get("sslmode") ?? undefined,
    };
  }
  const read = (...names: string[]) => {
    const found = names.map((name) => value[name]).find((item) => item !== undefined && item !== null);
    return found === undefined ? undefined : String(found);
  };
  const url = read("url", "connection_string", "dsn", "uri");
  if (url !== undefined) return postgresEnvironment(url);
  const host = read("host", "hostname");
  if (host === undefined) return null;
  return {
    PGHOST: host,
    PGPORT: read("port"),
    PGUSER: read("user", "username"),
    PGPASSWORD: read("password"),
    PGDATABASE: read("database", "dbname", "db"),
    PGSSLMODE: read("sslmode"),
  };
}

function pathOf(value: AcceptanceCredential["value"]): string | undefined {
  const path = typeof value === "string" ? value : value.path;
  return typeof path === "string" ? path.replace(/^sqlite:(\/\/)?/, "") : undefined;
}

const firstLine = (text: string): string | undefined => text.trim().split("\n")[0] || undefined;
