// A service of every kind that is lent, each real, each with a secret of its own; and how a program uses it.
import { spawnSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { expect } from "vitest";
import { makeAuthority } from "../../src/broker/authority.js";
import { postgresClient } from "../hosts/clients.js";
import { root } from "../run/program.js";
import { canServe, startDatabase, type TestDatabase } from "./database.js";
import { type GitServer, hasGitServer, startGitServer } from "./git-server.js";
import { SECRET, type Service, startService } from "./service.js";
import { hasSshd, type SshServer, startSshd } from "./ssh-server.js";

interface Kind {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly restrict: readonly string[];
  /** A line of shell that succeeds where the credential is used. */
  readonly use: string;
}

export interface EveryKind {
  readonly service: Service;
  readonly kinds: readonly Kind[];
  /** What must be nowhere, in no usual writing. */
  readonly canaries: readonly string[];
  readonly allow: readonly string[];
  /** What the person's programs trust besides the usual. */
  readonly trusts: Record<string, string>;
  close(): Promise<void>;
}

const canary = (kind: string) => SECRET.replace("canary", `canary-${kind}`);

export async function startEveryKind(): Promise<EveryKind> {
  const service = await startService();
  const database = canServe ? await startDatabase(canary("db")) : null;
  const git = hasGitServer ? await startGitServer(canary("git")) : null;
  const ssh = hasSshd ? await startSshd() : null;
  const secure = await startSecure();
  const kinds = [
    ...web(service),
    ...secure.kinds,
    ...(database === null ? [] : databases(database)),
    ...(git === null ? [] : repositories(git)),
    ...(ssh === null ? [] : keys(ssh)),
  ];
  const secrets = ["api", "basic", "header", "query", "secure", "db", "git"].map(canary);
  return {
    service,
    kinds,
    // Of the key, a line of its body.
    canaries: [SECRET, ...secrets, ...(ssh === null ? [] : [ssh.key.split("\n")[2]!])],
    trusts: { NODE_EXTRA_CA_CERTS: secure.file },
    allow: [
      service.origin,
      secure.origin,
      ...(database === null ? [] : [`postgres://127.0.0.1:${database.port}`]),
      ...(git === null ? [] : [git.origin]),
      ...(ssh === null ? [] : [`ssh://127.0.0.1:${ssh.port}`]),
    ],
    close: async () => {
      await service.close();
      secure.stop();
      database?.stop();
      git?.stop();
      ssh?.stop();
    },
  };
}

/** Asks, and is answered with what was asked: the secret taken out. */
const web = ({ origin }: Service): Kind[] =>
  (
    [
      ["api", "bearer_token", canary("api"), []],
      ["basic", "basic", `somebody:${canary("basic")}`, []],
      ["header", "api_key", canary("header"), ["header=X-Token"]],
      ["query", "api_key", canary("query"), ["query=key"]],
    ] as const
  ).map(([name, type, value, more]) => ({
    ...{ name, type, value },
    restrict: [`base_url=${origin}/v1`, ...more],
    use: `curl -sf "$${name.toUpperCase()}_URL/users" | grep -q redacted:${name}`,
  }));

/** A service that programs ask at its own https address, by a name of this machine that no proxy is spared for. */
async function startSecure() {
  const name = hostname().toLowerCase();
  const isNamed = await lookup(name).then(
    () => true,
    () => false,
  );
  const authority = makeAuthority([name]);
  const server = createServer(
    { SNICallback: (host, done) => done(null, authority.contextFor(host)) },
    (asked, answer) => {
      answer.end(`you sent ${asked.headers.authorization}\n`);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const folder = mkdtempSync(join(tmpdir(), "nut-secure-"));
  const file = join(folder, "authority.pem");
  writeFileSync(file, authority.certificate);
  const origin = `https://${name}:${(server.address() as AddressInfo).port}`;
  const kind: Kind = {
    ...{ name: "secure", type: "bearer_token", value: canary("secure"), restrict: [`base_url=${origin}/v1`] },
    use: `curl -sf ${origin}/v1/users | grep -q redacted:secure`,
  };
  const stop = () => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { file, origin, kinds: isNamed ? [kind] : [], stop };
}

/** By psql, and by the client that programs for Node use. */
function databases({ port }: TestDatabase): Kind[] {
  const value = `postgres://owner:${canary("db")}@127.0.0.1:${port}/postgres`;
  const base = { type: "postgresql", value, restrict: ["tables=users"] };
  const client = "./files/postgres.cjs";
  const script = `const sql = require("${client}")(process.env.NODEDB_URL); sql\`select name from users where name = \${"ann"}\`.then((rows) => sql.end().then(() => process.exit(rows[0].name === "ann" ? 0 : 1)))`;
  return [
    { ...base, name: "db", use: `psql -X -A -t -c "select name from users limit 1" "$DB_URL" | grep -q ann` },
    ...(postgresClient() === null ? [] : [{ ...base, name: "nodedb", use: `node -e '${script}'` }]),
  ];
}

const repositories = ({ origin }: GitServer): Kind[] => [
  {
    ...{ name: "source", type: "git", value: canary("git"), restrict: [`repository=${origin}/repo.git`] },
    use: `git ls-remote ${origin}/repo.git | grep -q refs/heads/main`,
  },
];

const keys = ({ key, port, user, knownHosts }: SshServer): Kind[] => [
  {
    ...{ name: "deploy", type: "ssh_key", value: key },
    restrict: [`hosts=[127.0.0.1]:${port}`, `user=${user}`, `known_hosts=${knownHosts}`],
    use: `$GIT_SSH_COMMAND -F none -o BatchMode=yes -p ${port} ${user}@127.0.0.1 echo inside | grep -q inside`,
  },
];

/** Puts them into the vault of a request, as a person would; and the client that one of them is used with into its tree. */
export function addAll(kinds: readonly Kind[], folder: string, cwd: string, env: Record<string, string>): void {
  const client = postgresClient();
  const outfile = `${folder}/files/postgres.cjs`;
  if (client !== null) buildSync({ entryPoints: [client], bundle: true, platform: "node", outfile });
  for (const { name, type, value, restrict } of kinds) {
    const flags = ["--dir", folder, "--name", name, "--type", type, "--scope", "read", "--expires", "30d"];
    const argv = ["add-credential", ...flags, "--value-stdin", ...restrict.flatMap((one) => ["--restrict", one])];
    const added = spawnSync(process.execPath, [`${root}bin/nutshell.js`, ...argv], {
      ...{ cwd, env, input: value, encoding: "utf8" },
    });
    expect(added.status, added.stderr).toBe(0);
  }
}
