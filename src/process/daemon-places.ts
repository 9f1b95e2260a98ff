// Where daemons of the machine and of the person listen. A read-only file system does not keep anybody from asking them, and
// they write wherever they are told: a container engine, a service manager, a terminal that types.
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "./find-program.js";
import type { Mount } from "./sandbox.js";

/** Sockets lie here, whoever's. */
const PLACES = ["/tmp", "/run"];

/** Below a home. */
const HOME_PLACES = [".docker/run", ".docker/desktop", ".colima", ".orbstack/run", ".rd"];

/** What of them programs read: how names are looked up, and where some distributions keep every program. */
const NEEDED = ["/etc/resolv.conf", "/run/current-system", "/run/booted-system", "/run/opengl-driver"];

/** Hides them, except for what programs need of them and for the folder somebody works in. */
export function daemonCovers(env: Environment, kept: string): Mount[] {
  const places = there(PLACES);
  const needed = NEEDED.filter((path) => existsSync(path)).map((path) => ({
    path: path.startsWith("/run/") ? path : realpathSync(path),
    from: realpathSync(path),
  }));
  const shown = [...needed, { path: kept, from: kept }].filter(({ path }) =>
    places.some((place) => path.startsWith(`${place}/`)),
  );
  const home = there(HOME_PLACES.map((name) => join(env.HOME ?? "/nowhere", name)));
  return [...places.map(hidden), ...shown.map((one): Mount => ({ access: "read-only", ...one })), ...home.map(hidden)];
}

const there = (paths: readonly string[]): string[] => [
  ...new Set(paths.filter((path) => existsSync(path)).map((path) => realpathSync(path))),
];

const hidden = (path: string): Mount => ({ access: "hidden", path });
