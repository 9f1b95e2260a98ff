// Keeping the person's login fresh. Agents are lent what lets them in and never what renews it, so nobody spends the renewing
// token twice and nothing an agent writes can come back. When a login is due, one process at a time runs the program itself on
// an errand: a new home no agent was in, no tools, nothing to work on, the whole login marked as over. The program renews it
// before it asks its model anything; what it wrote is checked, brought into the person's file, and the program is ended.
// An errand that was killed is found by its folder, and what it had renewed is brought back by whoever comes next.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Driver, type Login, loginOf } from "../../drivers/index.js";
import { removeFolder } from "../../files/index.js";
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
  const mine = (errands.get(folder) ?? Promise.resolve()).then(() =>
    alone(folder, errand.signal, async () => {
      bringBackLeft(login, folder);
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

async function alone(folder: string, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
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

/** What an errand had renewed when it was killed. */
function bringBackLeft(login: Login, folder: string): void {
  if (!existsSync(join(folder, HOME))) return;
  if (existsSync(join(folder, LENT))) login.bringBack(join(folder, HOME), readFileSync(join(folder, LENT), "utf8"));
  cleanUp(folder);
}

function cleanUp(folder: string): void {
  for (const name of [HOME, "work", LENT]) removeFolder(join(folder, name));
}

async function renew(login: Login, folder: string, { driver, env, command, model, sandbox, signal }: LoginErrand) {
  const lent = login.stamp();
  const [home, cwd] = [join(folder, HOME), join(folder, "work")];
  writeFileSync(join(folder, LENT), lent, { mode: 0o600 });
  for (const path of [home, cwd]) mkdirSync(path, { mode: 0o700 });
  try {
    const session = await driver.start({
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
      signal,
      ...(command === undefined ? {} : { command }),
      ...(model === undefined ? {} : { model }),
    });
    let ended = false;
    const end = session.ended.then(() => {
      ended = true;
    });
    while (!ended && !login.bringBack(home, lent)) await Promise.race([end, setTimeout(LOOK_MS)]);
    await session.cancel();
  } finally {
    cleanUp(folder);
  }
}
