// A fresh folder for one acceptance run: the tree under test, a home and a temporary folder of its own, and nothing of the
// workspace. With bubblewrap everything else is read-only and the network is off unless a check needs it.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  type ChildResult,
  type Environment,
  findBwrap,
  type Mount,
  privateMounts,
  privateTmp,
  runChild,
  type Sandbox,
} from "../process/index.js";

/** What a runner may need of the caller's environment: where programs are, and how to speak. Never tokens. */
const PASSED_ON = ["PATH", "LANG", "LC_ALL", "TZ", "JAVA_HOME", "GOROOT", "GOMODCACHE", "GOFLAGS", "PYTHONPATH"];

export interface CleanRoom {
  readonly tree: string;
  readonly sandboxed: boolean;
  run(request: RoomCommand): Promise<ChildResult>;
  sandboxFor(network: Sandbox["network"]): Sandbox | null;
  environment(extra?: Environment): Environment;
  remove(): void;
}

export interface RoomCommand {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Environment;
  readonly network?: Sandbox["network"];
  readonly timeoutMs: number;
  readonly stdin?: { readonly text: string };
  readonly signal?: AbortSignal;
  readonly maxOutputBytes?: number;
}

export interface RoomOptions {
  readonly folder: string;
  readonly env: Environment;
  /** auto uses bubblewrap when it works here. */
  readonly sandbox: "auto" | "off";
}

export async function openCleanRoom({ folder, env, sandbox }: RoomOptions): Promise<CleanRoom> {
  const [tree, home, temporary] = ["tree", "home", "tmp"].map((name) => join(folder, name)) as [string, string, string];
  for (const path of [tree, home, temporary]) mkdirSync(path, { recursive: true });
  const bwrap = sandbox === "auto" ? await findBwrap(env) : null;

  const mounts: Mount[] = [...privateTmp(temporary, [env.PATH]), ...privateMounts(env.HOME)];
  mounts.push({ access: "writable", path: folder });
  const room: CleanRoom = {
    tree,
    sandboxed: bwrap !== null,
    sandboxFor: (network) =>
      bwrap === null ? null : { root: "read-only", mounts, network: bwrap.network ? network : "host" },
    environment: (extra = {}) => ({
      ...Object.fromEntries(PASSED_ON.map((name) => [name, env[name]])),
      HOME: home,
      TMPDIR: temporary,
      GOCACHE: join(temporary, "go-build"),
      GOMODCACHE: env.GOMODCACHE ?? (env.HOME === undefined ? undefined : join(env.HOME, "go/pkg/mod")),
      PYTHONDONTWRITEBYTECODE: "1",
      CI: "1",
      NO_COLOR: "1",
      ...extra,
    }),
    run: ({ network = "none", cwd = tree, env: extra, ...command }) =>
      runChild({ ...command, cwd, env: room.environment(extra), sandbox: room.sandboxFor(network) }),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
  return room;
}
