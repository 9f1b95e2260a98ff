import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseCsv, postgresEnvironment } from "../../src/acceptance/sql-check.js";
import { bwrapAvailable, findProgram } from "../../src/process/index.js";
import { bench } from "./room.js";

const held = await bwrapAvailable(process.env);
const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql").sort() : [];
const postgresBin = versions.length === 0 ? null : `/usr/lib/postgresql/${versions.at(-1)}/bin`;
const canServe =
  postgresBin !== null &&
  existsSync(join(postgresBin, "initdb")) &&
  findProgram("psql", process.env) !== null &&
  existsSync("/usr/sbin/runuser");

describe.skipIf(findProgram("sqlite3", process.env) === null)("sql_check on SQLite (needs sqlite3)", () => {
  it("asks a database in the result, read-only", async () => {
    const criterion = (id: string, query: string, result?: unknown) => ({
      id,
      type: "sql_check",
      database: "files/app.db",
      query,
      expected: { result },
    });
    const made = bench(
      [
        criterion("one", "select count(*) from users", 2),
        criterion("rows", "select name from users order by 1", ["ann", 'b "x", y']),
        criterion("table", "select id, name from users where id = 1", [[1, "ann"]]),
        criterion("wrong", "select count(*) from users", 3),
        criterion("broken", "select * from nowhere"),
        criterion("writes", "delete from users"),
        criterion("command", ".shell id"),
        { id: "away", type: "sql_check", database: "../x.db", query: "select 1" },
      ],
      {},
      { "files/keep": "" },
    );
    const database = join(made.result, "files/app.db");
    execFileSync("sqlite3", [
      database,
      `create table users(id, name); insert into users values (1,'ann'),(2,'b "x", y');`,
    ]);
    const outcomes = await made.outcomes();
    made.remove();
    expect(outcomes).toEqual({
      one: "passed",
      rows: "passed",
      table: "passed",
      wrong: 'failed: result "2", expected "3"',
      broken: expect.stringContaining("no such table"),
      writes: expect.stringMatching(/^failed: .*readonly database/),
      command: "failed: the query is not SQL",
      away: "failed: database ../x.db does not exist in the result",
    });
  });
});

describe.skipIf(!canServe)("sql_check on PostgreSQL (needs postgresql and psql)", () => {
  let folder: string;
  const root = userInfo().uid === 0;
  const asPostgres = (command: string) =>
    execFileSync(
      root ? "/usr/sbin/runuser" : "sh",
      root ? ["-u", "postgres", "--", "sh", "-c", command] : ["-c", command],
      {
        cwd: "/",
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      },
    );

  let port: number;

  beforeAll(async () => {
    port = await freePort();
    folder = mkdtempSync(join(tmpdir(), "nut-pg-"));
    chmodSync(folder, 0o777);
    asPostgres(`${postgresBin}/initdb -D ${folder}/data -A trust -U owner --no-sync >/dev/null`);
    asPostgres(
      `${postgresBin}/pg_ctl -D ${folder}/data -o "-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${folder} -c fsync=off" -l ${folder}/log -w start`,
    );
  });
  afterAll(() => {
    asPostgres(`${postgresBin}/pg_ctl -D ${folder}/data -m immediate -w stop`);
    rmSync(folder, { recursive: true, force: true });
  });

  it("asks with the scoped credential, and changes nothing", async () => {
    const made = bench(
      [
        {
          id: "tables",
          type: "sql_check",
          query: "select count(*) from information_schema.tables where table_name = 'users'",
          expected: { result: 0 },
        },
        { id: "true", type: "sql_check", query: "select true", credential_ref: "db", expected: { result: true } },
        { id: "writes", type: "sql_check", query: "create table users(id int)" },
        { id: "meta", type: "sql_check", query: "\\! id" },
        { id: "unknown", type: "sql_check", query: "select 1", credential_ref: "other" },
      ],
      {},
      { a: "" },
      {
        acceptance: { criteria_file: "tests/criteria.json" },
        credentials: { scopes: [{ name: "db", type: "postgresql" }] },
      },
    );
    const value = { host: folder, port, user: "owner", password: "unused-s3cret", database: "postgres" };
    const outcomes = await made.outcomes({
      baseline: false,
      // The clean room's own /tmp would hide the socket; a real database is on the network.
      sandbox: "off",
      credentials: async (name) => (name === "db" ? { type: "postgresql", value, env: {} } : null),
    });
    made.remove();
    expect(outcomes).toEqual({
      tables: "passed",
      true: "passed",
      writes: expect.stringContaining("read-only transaction"),
      meta: "failed: the query is not SQL",
      unknown: 'skipped: credential "other" could not be opened',
    });
  });

  it("asks one on this machine only when the person named it, and psql reaches nothing else", async () => {
    const made = bench(
      [{ id: "one", type: "sql_check", query: "select 1", credential_ref: "db", expected: { result: 1 } }],
      {},
      { a: "" },
    );
    const at = (host: string, allowOrigins: string[] = [], more: object = {}) =>
      made.outcomes({
        ...{ baseline: false, quick: true, allowOrigins, ...more },
        credentials: async () => ({
          type: "postgresql",
          value: { host, port, user: "owner", database: "postgres" },
          env: {},
        }),
      });
    const origin = (host: string) => `postgres://${host}:${port}`;
    const unnamed = {
      one: expect.stringMatching(/^skipped: .*--allow-origin postgres:\/\/(?:127\.0\.0\.1|localhost):\d+$/),
    };
    const passed = { one: expect.stringMatching(/^passed/) };
    try {
      expect(await at("127.0.0.1")).toEqual(unnamed);
      expect(await at("127.0.0.1", [], { sandbox: "off" })).toEqual(unnamed);
      expect(await at("127.0.0.1", [origin("127.0.0.2")])).toEqual(unnamed);
      expect(await at("127.0.0.1", [origin("127.0.0.1")], { sandbox: "off" })).toEqual(passed);
      expect(await at("localhost", [origin("localhost")])).toEqual(passed);
      // A number that is none of the room's own is reached as well.
      expect(await at("0.0.0.0", [origin("0.0.0.0")])).toEqual(passed);
      // A second host, which libpq would try too, is not a way out.
      expect(await at("nowhere.invalid,127.0.0.1", [origin("localhost")])).toEqual({
        one: expect.stringMatching(/^(?:failed|skipped)/),
      });
    } finally {
      made.remove();
    }
  }, 60_000);
});

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    }),
  );
}

describe.skipIf(!canServe || !held)("sql_check on a database of its own (needs postgresql and bwrap)", () => {
  it("makes one for each run, fills it, and asks from another room", async () => {
    const count = "select count(*) from users";
    const fresh = { type: "sql_check", database: "postgres", setup: "tests/setup.sh" };
    const made = bench(
      [
        { id: "rows", ...fresh, query: count, expected: { result: 2 } },
        { id: "direct", ...fresh, setup: "tests/one.sql", query: "select x from t", expected: { result: 7 } },
        { id: "broken", ...fresh, setup: "tests/broken.sql", query: "select 1" },
        { id: "absent", ...fresh, setup: "tests/absent.sql", query: "select 1" },
      ],
      {
        "tests/setup.sh": "psql -X -q -v ON_ERROR_STOP=1 -f files/schema.sql\n",
        "tests/one.sql": "create table t as select 7 as x;\n",
        "tests/broken.sql": "select nonsense;\n",
        "files/schema.sql": "create table users(id int);\n",
      },
      { "files/schema.sql": "create table users(id int);\ninsert into users values (1), (2);\n" },
    );
    const { results } = await made.accept({ trials: 1 });
    made.remove();
    expect(results).toMatchObject([
      { id: "rows", status: "passed", before: "failed" },
      { id: "direct", status: "passed", weakness: "guards" },
      { id: "broken", status: "failed", reason: expect.stringContaining("nonsense") },
      { id: "absent", status: "failed", reason: "tests/absent.sql does not exist" },
    ]);
  }, 180_000);
});

describe("connection settings", () => {
  it("come from an address or from named fields, and go into libpq's variables", () => {
    expect(postgresEnvironment("postgresql://u%40x:p%2Fw@db.example:5433/app?sslmode=require")).toMatchObject({
      PGHOST: "db.example",
      PGPORT: "5433",
      PGUSER: "u@x",
      PGPASSWORD: "p/w",
      PGDATABASE: "app",
      PGSSLMODE: "require",
    });
    expect(postgresEnvironment({ host: "h", username: "u", password: "p", dbname: "d", port: 1 })).toMatchObject({
      PGHOST: "h",
      PGPORT: "1",
      PGUSER: "u",
      PGDATABASE: "d",
    });
    expect(postgresEnvironment("mysql://h/x")).toBeNull();
    expect(postgresEnvironment({ password: "p" })).toBeNull();
  });

  it("reads CSV with quotes and line breaks in cells", () => {
    expect(parseCsv('a,"b ""c"", d"\n"x\ny",\n1\n')).toEqual([["a", 'b "c", d'], ["x\ny", ""], ["1"]]);
  });
});
