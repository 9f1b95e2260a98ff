// Keeping the person's login fresh. Agents are lent what lets them in and never what renews it, so nobody spends the renewing
// token twice and nothing an agent writes can come back. When a login is due, one process at a time runs the program itself on
// an errand: a new home no agent was in, no tools, nothing to work on, the whole login marked as over. The program renews it
// before it asks its model anything; what it wrote is checked, brought into the person's file, and the program is ended.
// An errand that was killed is found by its folder, and what it had renewed is brought back by whoever comes next: at every
// moment the only token that works is in the person's file, in the errand's home, or with a program that is waited for.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Driver, type Login, loginOf } from "../../drivers/index.js";
import { isSystemError } from "../../errors.js";
import { removeFolder } from "../../files/index.js";
import { homeDwellers, sweepLeftovers } from "../../process/index.js";
import { stateFolder } from "../../session/lookout.js";
import { openLock } from "../../state/index.js";

export interface LoginErrand {
  readonly driver: Driver;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly command?: string | undefined;
  readonly model?: string | undefined;
  readonly sandbox: "auto" | "off";
  readonly signal: AbortSignal;
}

/** How long a program has to renew its login, start included. */
const ERRAND_MS = 60_000;
/** How long it still has after an interruption: the vendor's answer may be on its way, and the old token is then spent. */
const INTERRUPTED_MS = 5_000;
/** Others may be on the same errand. */
const PATIENCE_MS = 2 * ERRAND_MS;
const LOOK_MS = 50;

/** Errands of this process, by login: the kernel's lock is for other processes. */
const errands = new Map<string, Promise<unknown>>();

/** Renews the login when it is due, or because it was refused. Returns whether its tokens are others than before. */
export async function keepLogin(errand: LoginErrand, { refused = false } = {}): Promise<boolean> {
  const { driver, env, command, model } = errand;
  const login = loginOf(driver.name, env, { command, model });
  const state = stateFolder(env);
  if (login === null || state === null) return false;
  const folder = join(state, "logins", login.id);
  const before = login.stamp();
  if (!existsSync(join(folder, HOME)) && !login.isDue() && !(refused && login.isRenewable)) return false;
  // Renewed where it cannot be kept, the person's own would be spent. It may still do; whoever is refused says so.
  if (!login.isWritable || !isPlace(folder)) return false;
  const mine = (errands.get(folder) ?? Promise.resolve()).then(() =>
    alone(folder, errand.signal, async () => {
      await bringBackLeft(login, folder, errand.signal);
      if (errand.signal.aborted) return;
      // Somebody renewed it while we waited.
      if (login.stamp() !== before) return;
      if (refused ? login.isRenewable : login.isDue()) await renew(login, folder, errand);
    }),
  );
  errands.set(
    folder,
    mine.catch(() => undefined),
  );
  await mine;
  return login.stamp() !== before;
}

const HOME = "home";
const LENT = "lent";

/** Whether errands can begin here; the folder is made. */
function isPlace(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

async function alone(folder: string, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  const lock = openLock(join(folder, "lock"));
  const until = performance.now() + PATIENCE_MS;
  while (!lock.tryAcquire()) {
    // The login as it is may still do; whoever is refused says so.
    if (signal.aborted || performance.now() > until) return;
    await setTimeout(LOOK_MS);
  }
  try {
    await act();
  } finally {
    lock.release();
  }
}

/**
 * What an errand had renewed when it was killed. Its program outlives it, and may have got a token that it has not written yet:
 * it is given the time it would have had.
 */
async function bringBackLeft(login: Login, folder: string, signal: AbortSignal): Promise<void> {
  const home = join(folder, HOME);
  if (existsSync(home)) {
    const lent = existsSync(join(folder, LENT)) ? readFileSync(join(folder, LENT), "utf8") : null;
    const until = performance.now() + ERRAND_MS;
    for (;;) {
      // In this order: what it wrote last is looked at after it ended.
      const isOver = homeDwellers(home).length === 0;
      if (login.stamp() !== lent || login.bringBack(home, lent) || isOver || performance.now() > until) break;
      if (signal.aborted) return;
      await setTimeout(LOOK_MS);
    }
    for (const pid of homeDwellers(home)) end(pid);
  }
  sweepLeftovers(dirname(realpathSync(login.path)));
  cleanUp(folder);
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

function cleanUp(folder: string): void {
  for (const name of [HOME, "work", LENT]) removeFolder(join(folder, name));
}

async function renew(login: Login, folder: string, { driver, env, command, model, sandbox, signal }: LoginErrand) {
  const lent = login.stamp();
  const [home, cwd] = [join(folder, HOME), join(folder, "work")];
  writeFileSync(join(folder, LENT), lent, { mode: 0o600 });
  for (const path of [home, cwd]) mkdirSync(path, { mode: 0o700 });
  const session = await driver
    .start({
      rolePrompt: "",
      taskPrompt: "Reply with the word ok.",
      cwd,
      home,
      mcpServers: [],
      may: { edit: false, shell: false },
      env,
      login: "whole",
      sandbox,
      timeoutMs: ERRAND_MS,
      ...(command === undefined ? {} : { command }),
      ...(model === undefined ? {} : { model }),
    })
    .catch((error: unknown) => {
      cleanUp(folder);
      throw error;
    });
  let ended = false;
  const itsEnd = session.ended.then(() => {
    ended = true;
  });
  let leftMs = INTERRUPTED_MS;
  try {
    for (;;) {
      // In this order: it may have written its last word just before it ended.
      const isOver = ended || leftMs <= 0;
      if (login.bringBack(home, lent) || isOver) break;
      await Promise.race([itsEnd, setTimeout(LOOK_MS)]);
      if (signal.aborted) leftMs -= LOOK_MS;
    }
  } finally {
    await session.cancel();
  }
  // Not when it could not be brought back: the next one tries again.
  cleanUp(folder);
}
