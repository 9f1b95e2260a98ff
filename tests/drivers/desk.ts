// One agent's place: a work tree, a home, and everything its session told.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type DriverEvent,
  type DriverName,
  loadDriver,
  type Session,
  type SessionEnd,
  type SessionRequest,
} from "../../src/drivers/index.js";

export interface Desk {
  readonly folder: string;
  readonly cwd: string;
  readonly home: string;
  readonly events: DriverEvent[];
  put(files: Readonly<Record<string, string>>): void;
  /** A program of that name, first on the PATH the driver sees. */
  install(name: string, script: string): void;
  start(driver: DriverName, request?: Partial<SessionRequest>): Promise<Session>;
  run(driver: DriverName, request?: Partial<SessionRequest>): Promise<SessionEnd>;
  of<Type extends DriverEvent["type"]>(type: Type): Extract<DriverEvent, { type: Type }>[];
  remove(): void;
}

export function desk(env: Readonly<Record<string, string | undefined>> = {}): Desk {
  // Not below /tmp: agents get a /tmp of their own, and Codex refuses to keep programs there.
  const folder = mkdtempSync("/var/tmp/nut-desk-");
  const [cwd, home, bin] = ["work", "home", "bin"].map((name) => join(folder, name)) as [string, string, string];
  for (const path of [cwd, home, bin]) mkdirSync(path);
  const events: DriverEvent[] = [];
  const start = async (driver: DriverName, request: Partial<SessionRequest> = {}) =>
    (await loadDriver(driver)).start({
      rolePrompt: "You are the engineer.",
      taskPrompt: "Do the task.",
      cwd,
      home,
      mcpServers: [],
      may: { edit: true, shell: true },
      env: { PATH: `${bin}:${process.env.PATH}`, HOME: join(folder, "person"), ...env },
      timeoutMs: 150_000,
      onEvent: (event) => events.push(event),
      ...request,
    });
  return {
    folder,
    cwd,
    home,
    events,
    put: (files) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
    },
    install: (name, script) => {
      writeFileSync(join(bin, name), script);
      chmodSync(join(bin, name), 0o755);
    },
    start,
    run: async (driver, request) => (await start(driver, request)).ended,
    of: (type) => events.filter((event): event is never => event.type === type),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
