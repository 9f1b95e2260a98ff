// Drivers are loaded when they are asked for: a protocol library is not paid for by someone who runs another program.
import { DRIVER_NAMES, type Driver, type DriverName } from "./driver.js";

export {
  ABILITIES,
  type Ability,
  DRIVER_NAMES,
  type Driver,
  type DriverEvent,
  type DriverName,
  type McpServer,
  type Probe,
  type Session,
  type SessionEnd,
  type SessionRequest,
  type Support,
  type Usage,
} from "./driver.js";
export { isLoggedIn, LOGIN_DRIVERS } from "./logged-in.js";
export { type LoginKey, loginCommand, loginKeys } from "./login-variables.js";
export { type Login, loginOf } from "./logins.js";
export { isStandIn, noopCommand, oracleCommand, type StandIn } from "./oracle.js";
export { beginProbe, lineFrom } from "./probe.js";
export { isTooLong, type Trouble, type TroubleKind } from "./trouble.js";

const LOAD: Readonly<Record<DriverName, () => Promise<Driver>>> = {
  codex: async () => (await import("./codex.js")).codex,
  claude: async () => (await import("./claude.js")).claude,
  opencode: async () => (await import("./opencode.js")).opencode,
  acp: async () => (await import("./acp.js")).acp,
  command: async () => (await import("./command.js")).commandDriver,
};

export function isDriverName(name: string): name is DriverName {
  return (DRIVER_NAMES as readonly string[]).includes(name);
}

export function loadDriver(name: DriverName): Promise<Driver> {
  return LOAD[name]();
}
