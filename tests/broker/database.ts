// A real PostgreSQL with a password that must not be seen, started from the distribution's own programs.
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { findProgram } from "../../src/process/index.js";

const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql").sort() : [];
const bin = versions.length === 0 ? null : `/usr/lib/postgresql/${versions.at(-1)}/bin`;
export const canServe =
  bin !== null &&
  existsSync(join(bin, "initdb")) &&
  findProgram("psql", process.env) !== null &&
  existsSync("/usr/sbin/runuser");

const isRoot = userInfo().uid === 0;
const asPostgres = (command: string) =>
  execFileSync(
    isRoot ? "/usr/sbin/runuser" : "sh",
    isRoot ? ["-u", "postgres", "--", "sh", "-c", command] : ["-c", command],
    {
      cwd: "/",
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    },
  );

export interface TestDatabase {
  readonly port: number;
  readonly folder: string;
  /** As the owner, by the server's own socket. */
  owner(sql: string): string;
  stop(): void;
}

/** Passwords of `owner` (who may make roles) and `plain` (who may not). */
export async function startDatabase(password: string): Promise<TestDatabase> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "nut-broker-pg-"));
  chmodSync(folder, 0o777);
  writeFileSync(join(folder, "password"), password, { mode: 0o644 });
  asPostgres(
    `${bin}/initdb -D ${folder}/data -A scram-sha-256 -U owner --pwfile=${folder}/password --no-sync >/dev/null`,
  );
  rmSync(join(folder, "password"));
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${folder} -c fsync=off`;
  asPostgres(`${bin}/pg_ctl -D ${folder}/data -o "${options}" -l ${folder}/log -w start`);
  const owner = (sql: string) =>
    execFileSync("psql", ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql], {
      env: {
        PATH: process.env.PATH,
        PGHOST: folder,
        PGPORT: String(port),
        PGUSER: "owner",
        PGDATABASE: "postgres",
        PGPASSWORD: password,
      },
      encoding: "utf8",
    }).trim();
  owner(
    [
      "create table users(id serial primary key, name text)",
      "insert into users(name) values ('ann'), ('bob')",
      "create table salaries(id int, amount int)",
      "insert into salaries values (1, 9000)",
      `create role plain login password '${password}'`,
      "grant select, insert, update, delete on users to plain",
    ].join("; "),
  );
  return {
    port,
    folder,
    owner,
    stop: () => {
      asPostgres(`${bin}/pg_ctl -D ${folder}/data -m immediate -w stop`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

export interface Answer {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** psql with nothing but these variables. */
export function psql(url: string, sql: string, more: readonly string[] = []): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(
      "psql",
      ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", ...more, url, ...(sql === "" ? [] : ["-c", sql])],
      { env: { PATH: process.env.PATH, HOME: "/nonexistent" }, timeout: 20_000 },
      (error, out, err) => resolve({ out: out.trim(), err: err.trim(), code: Number(error?.code ?? 0) }),
    );
  });
}
