// A PostgreSQL server of a check's own: made in a room, filled by the request's setup script, asked from another room.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import type { Environment } from "../process/index.js";
import type { Check } from "./model.js";
import type { Rooms } from "./room/rooms.js";
import type { ServiceOptions } from "./service.js";

/** How a fresh server is reached; `line` is the folder with its socket. */
export const freshLogin = (line: string): Environment => ({ PGHOST: line, PGUSER: "postgres", PGDATABASE: "postgres" });

const READY = "ready";

/** `sh -c TEXT sh <bin> <line> <setup>`. No network, no disk that must be waited for. */
const SERVE = `
set -e
bin=$1 line=$2 setup=$3
"$bin/initdb" -D "$TMPDIR/database" -A trust -U postgres -E UTF8 --locale=C --no-sync >/dev/null
options="-c listen_addresses='' -c unix_socket_directories=$line -c fsync=off -c full_page_writes=off"
"$bin/pg_ctl" -D "$TMPDIR/database" -o "$options" -l "$TMPDIR/database.log" -w start >/dev/null || { tail -n 1 "$TMPDIR/database.log" >&2; exit 1; }
case $setup in
  "") ;;
  *.sql) psql -X -q -v ON_ERROR_STOP=1 -f "$setup" ;;
  *) read -r first < "$setup" || true
     case $first in
       "#!"*) \${first#"#!"} "$setup" ;;
       *) sh "$setup" ;;
     esac ;;
esac
: > "$line/${READY}"
while :; do sleep 3600; done
`;

/** Null where PostgreSQL is not installed. */
export function freshPostgres({ setup = "", timeoutMs }: Check, rooms: Rooms): ServiceOptions | null {
  const bin = serverPrograms(rooms);
  if (bin === null) return null;
  return {
    command: (line) => ({
      command: "sh",
      args: ["-c", SERVE, "sh", bin, line, setup],
      env: freshLogin(line),
    }),
    ready: READY,
    timeoutMs,
  };
}

/** Distributions keep the server's programs out of PATH, a folder per version. */
function serverPrograms(rooms: Rooms): string | null {
  const known = rooms.findProgram("initdb");
  if (known !== null && existsSync(posix.join(dirname(known), "pg_ctl"))) return dirname(known);
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "initdb"))) ?? null;
}
