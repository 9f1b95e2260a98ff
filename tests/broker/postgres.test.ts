// A database through the broker, by a real server and the usual client: what its login may do, without the login.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Broker, type BrokerUse, openBroker } from "../../src/broker/index.js";
import { statementsIn } from "../../src/broker/postgres/statement.js";
import { canServe, psql, startDatabase, type TestDatabase } from "./database.js";

const SECRET = "canary-7d1f9a4be23c5860";
let database: TestDatabase;
const brokers: Broker[] = [];

interface Terms {
  readonly scopes?: readonly string[];
  readonly restrictions?: Readonly<Record<string, unknown>>;
  readonly user?: string;
  readonly sslmode?: string;
}

async function lend({ scopes = [], restrictions = {}, user = "owner", sslmode }: Terms = {}, allow = true) {
  const uses: BrokerUse[] = [];
  const origin = `postgres://127.0.0.1:${database.port}`;
  const broker = await openBroker({ allowOrigins: allow ? [origin] : [], onUse: (use) => uses.push(use) });
  brokers.push(broker);
  const value = {
    host: "127.0.0.1",
    port: database.port,
    user,
    password: SECRET,
    database: "postgres",
    ...(sslmode === undefined ? {} : { sslmode }),
  };
  const credential = { name: "db", type: "postgresql", value, scopes: [...scopes], restrictions: { ...restrictions } };
  await broker.lend({
    credential,
    scope: undefined,
    expiresAt: "2999-01-01T00:00:00Z",
    manifest: {},
    endpoints: null,
  });
  const { env } = await broker.admit({ by: "engineer-1", role: null });
  return { broker, uses, env, url: env.DB_URL! };
}

const READS: Terms = { scopes: ["read"], restrictions: { tables: ["users"] } };

/** Each with the words the server, or the gateway, refuses it in. */
const ATTEMPTS: readonly (readonly [string, string])[] = [
  ["delete from users", "read-only transaction|permission denied"],
  ["set transaction_read_only = off; delete from users", "permission denied"],
  ["begin read write; delete from users; commit", "permission denied"],
  [
    "set session characteristics as transaction read write; begin; update users set name = 'x'; commit",
    "permission denied",
  ],
  ["select * from salaries", "permission denied"],
  ["select (select amount from salaries limit 1) from users", "permission denied"],
  ["table salaries", "permission denied"],
  ["copy salaries to stdout", "permission denied"],
  ["copy users to program 'id'", "superuser|privileges of"],
  ["copy users to '/tmp/out'", "superuser|privileges of"],
  ["select pg_read_file('/etc/passwd')", "permission denied"],
  ["select pg_ls_dir('/')", "permission denied"],
  ["select lo_import('/etc/passwd')", "permission denied"],
  ["set role owner", "permission denied"],
  ["set session authorization owner", "permission denied"],
  ["reset role; select * from salaries", "permission denied"],
  ["select 1; select * from salaries", "permission denied"],
  ["prepare p as select * from salaries; execute p", "permission denied"],
  ["do $$ begin perform * from salaries; end $$", "permission denied"],
  ["select rolpassword from pg_authid", "permission denied"],
  ["select passwd from pg_shadow", "permission denied"],
  ["alter role owner password 'mine'", "permission denied|must be superuser|read-only"],
  ["begin read write; alter role owner password 'mine'", "permission denied|must be superuser|must have"],
  ["begin read write; create role mine superuser", "permission denied|must be superuser"],
  ["begin read write; create table mine(a int)", "permission denied"],
  ["begin read write; alter table users owner to current_user", "must be owner"],
  ["begin read write; create extension file_fdw", "permission denied"],
  ["begin read write; grant select on salaries to public", "permission denied"],
  ["load '/tmp/x.so'", "permission denied|access to library|must be superuser"],
  ["alter system set log_statement = 'all'", "permission denied|must be superuser"],
  ["select pg_reload_conf()", "permission denied"],
  ["begin read write; copy users from program 'id'", "superuser|privileges of|permission denied"],
  ["begin read write; copy users from stdin", "permission denied"],
  ["copy (select * from salaries) to stdout", "permission denied"],
  ["explain analyze delete from users", "read-only transaction|permission denied"],
  ["with gone as (delete from users returning *) select * from gone", "read-only transaction|permission denied"],
  ["select set_config('role', 'owner', false)", "permission denied"],
  ["select set_config('session_authorization', 'owner', false)", "permission denied"],
  ["begin; declare c cursor for select * from salaries", "permission denied"],
  ["select query_to_xml('select * from salaries', true, true, '')", "permission denied"],
  ["begin read write; reassign owned by owner to current_user", "permission denied"],
  ["begin read write; alter role current_user login", "permission denied|must be superuser|must have"],
  ["begin read write; alter role current_user valid until 'infinity'", "permission denied|must be superuser|must have"],
  [
    "begin read write; create function f() returns int language sql security definer as 'select 1'",
    "permission denied",
  ],
  ["begin read write; lock table users in exclusive mode", "permission denied"],
];

describe.skipIf(!canServe)("a database that is lent (needs postgresql and psql)", () => {
  beforeAll(async () => {
    database = await startDatabase(SECRET);
  });
  afterEach(async () => {
    await Promise.all(brokers.splice(0).map((broker) => broker.close()));
  });
  afterAll(() => database.stop());

  it("is used by somebody who has no password of it", async () => {
    const { url, env, uses } = await lend();
    expect(await psql(url, "select name from users where name = 'ann'")).toMatchObject({ out: "ann", code: 0 });
    expect(JSON.stringify([env, uses])).not.toContain(SECRET);
    expect(env).toMatchObject({ DB_HOST: "127.0.0.1", DB_USER: "db", DB_DATABASE: "postgres" });
    expect(uses).toMatchObject([
      { name: "db", by: "engineer-1", what: "select name from users where name = ?", allowed: true },
    ]);
  });

  it("is held to reading and to its tables by a role of the database, which is gone afterwards", async () => {
    const { url, broker } = await lend(READS);
    expect(await psql(url, "select count(*) from users")).toMatchObject({ out: "2" });
    const lasting =
      "select count(*) from pg_roles where rolname ~ '^nut_' and not rolcanlogin and rolvaliduntil < now()";
    await expect.poll(() => database.owner(`${lasting} + interval '25 hours'`)).toBe("1");
    for (const [sql, words] of ATTEMPTS) {
      const { err, out, code } = await psql(url, sql);
      expect(err, sql).toMatch(new RegExp(`${words}|in a read-only transaction`));
      expect([code, out.includes("9000")], sql).toEqual([1, false]);
    }
    expect(database.owner("select count(*) from users")).toBe("2");
    await broker.close();
    expect(database.owner("select count(*) from pg_roles where rolname ~ '^nut_'")).toBe("0");
  }, 60_000);

  it("is left by nobody who gave itself a password: a role that has logged in cannot do it again", async () => {
    const { url } = await lend(READS);
    const said = await psql(
      url,
      "begin read write; alter role current_user password 'mine'; commit; select current_user",
    );
    const role = /nut_[0-9a-f]{16}/.exec(said.out)?.[0];
    expect(role, said.err).toBeDefined();
    const past = `postgres://${role}:mine@127.0.0.1:${database.port}/postgres`;
    expect((await psql(past, "select 1")).err).toMatch(/not permitted to log in|does not exist|authentication failed/);
    const held = spawn("psql", ["-X", "-A", "-t", "-q", url], { env: { PATH: process.env.PATH } });
    held.stdin.write("begin read write; alter role current_user password 'mine'; commit; select current_user;\n");
    const [line] = (await once(held.stdout, "data")) as [Buffer];
    const open = `postgres://${line.toString().trim()}:mine@127.0.0.1:${database.port}/postgres`;
    expect((await psql(open, "select 1")).err).toContain("not permitted to log in");
    held.kill();
  });

  it("writes where it may, and only there", async () => {
    const { url } = await lend({ scopes: ["read", "write"], restrictions: { tables: "users" } });
    const added = await psql(url, "insert into users(name) values ('eve') returning name");
    expect(added, added.err).toMatchObject({ out: "eve" });
    expect((await psql(url, "update salaries set amount = 1")).err).toContain("permission denied");
    database.owner("delete from users where name = 'eve'");
  });

  it("says that limits are only promised where the login may not make roles", async () => {
    const { url, uses } = await lend({ ...READS, user: "plain" });
    expect((await psql(url, "select count(*) from users")).out).toBe("2");
    expect(uses[0]?.why).toContain("only promised");
  });

  it("passes a cancel on", async () => {
    const { url } = await lend();
    const child = spawn("psql", ["-X", "-c", "select pg_sleep(20)", url], {
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let words = "";
    child.stderr.on("data", (chunk) => {
      words += chunk;
    });
    for (
      let tries = 0;
      tries < 100 &&
      database.owner(
        "select count(*) from pg_stat_activity where query like '%pg_sleep(2%' and pid <> pg_backend_pid()",
      ) === "0";
      tries += 1
    )
      await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGINT");
    await new Promise((resolve) => child.once("close", resolve));
    expect(words).toContain("canceling statement due to user request");
  });

  it.each([
    ["calls", { restrictions: { calls: 2 } }, "all of them are spent"],
    ["a rate", { restrictions: { rate_limit: "2/h" } }, "2 uses per 3600 s"],
  ])("holds %s", async (_name, terms, words) => {
    const { url, uses } = await lend(terms);
    for (let i = 0; i < 2; i += 1) expect((await psql(url, "select 1")).out).toBe("1");
    expect((await psql(url, "select 1")).err).toContain(words);
    expect(uses.at(-1)).toMatchObject({ allowed: false, what: "select ?" });
  });

  it("counts every statement of one message", async () => {
    const { url } = await lend({ restrictions: { calls: 2 } });
    expect((await psql(url, "select 1; select 2; select 3")).err).toContain("all of them are spent");
  });

  it("is not reached with a wrong word, another name, for replication, or on this machine without a person's word", async () => {
    const { url } = await lend();
    expect((await psql(url.replace(/:[^:@]+@/, ":wrong@"), "select 1")).err).toContain("nobody is let in");
    expect((await psql(url.replace("//db:", "//owner:"), "select 1")).err).toContain("nobody is let in");
    expect((await psql(`${url}&replication=database`, "IDENTIFY_SYSTEM")).err).toMatch(/not for replication|invalid/);
    const closed = await lend({}, false);
    expect((await psql(closed.url, "select 1")).err).toContain(`--allow-origin postgres://127.0.0.1:${database.port}`);
  });

  it("does not send its password to a server that does not encrypt when it must", async () => {
    const { url } = await lend({ sslmode: "require" });
    expect((await psql(url, "select 1")).err).toContain("does not encrypt");
  });

  it("speaks prepared statements, records them, and knows no fast path", async () => {
    const { url, uses } = await lend();
    const { port, username, password } = new URL(url);
    const message = (type: string, body: Buffer) => Buffer.concat([Buffer.from(type), int(body.length + 4), body]);
    const int = (value: number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32BE(value);
      return bytes;
    };
    const text = (value: string) => Buffer.from(`${value}\0`);
    const start = Buffer.concat([
      int(196_608),
      text("user"),
      text(username),
      text("database"),
      text("postgres"),
      Buffer.from([0]),
    ]);
    const socket = connect(Number(port), "127.0.0.1");
    let heard = "";
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
    });
    socket.write(Buffer.concat([int(start.length + 4), start, message("p", text(password))]));
    const bind = Buffer.concat([
      text(""),
      text("s"),
      Buffer.from([0, 0, 0, 1]),
      int(3),
      Buffer.from("ann"),
      Buffer.from([0, 0]),
    ]);
    const whole = Buffer.concat([
      message(
        "P",
        Buffer.concat([text("s"), text("select 'found-' || name from users where name = $1"), Buffer.from([0, 0])]),
      ),
      message("B", bind),
      message("E", Buffer.concat([text(""), int(0)])),
      message("S", Buffer.alloc(0)),
    ]);
    // Cut where it hurts.
    for (let at = 0; at < whole.length; at += 7) socket.write(whole.subarray(at, at + 7));
    await expect.poll(() => heard).toContain("found-ann");
    expect(uses.at(-1)?.what).toBe("select ? || name from users where name = $1");
    socket.write(message("F", Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
    await expect.poll(() => heard).toContain("is not used that way");
    socket.destroy();
  });
});

describe("a statement on the record", () => {
  it.each([
    ["select * from t where a = 'x''y' and b = 12.5 -- note", "select * from t where a = ? and b = ?"],
    ["insert into t values ($1, E'a\\'b', $tag$secret$tag$, $$more$$)", "insert into t values ($1, ?, ?, ?)"],
    ['select "Name 7" /* 42 */ from t1', 'select "Name 7" from t1'],
    ["select 'never closed", "select ?"],
    // What looks like a literal to a careless reader hides nothing.
    ["select '\\'; delete from t --'", "select ? | delete from t"],
    ["select a$$; delete from t; $$", "select a$$ | delete from t | ?"],
    ["select type'\\'; delete from t", "select type? | delete from t"],
    ["-- note\rdelete from t", "delete from t"],
    ["select 1;; select 2;", "select ? | select ?"],
  ])("%s", (statement, recorded) => {
    expect(statementsIn({ text: statement, more: 0 }).join(" | ")).toBe(recorded);
  });

  it("tells how much of a long one is not there", () => {
    expect(statementsIn({ text: "select 1", more: 7 })).toEqual(["select ?", "… and 7 bytes more"]);
  });
});
