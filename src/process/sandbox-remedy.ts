// Why no sandbox can be had here, and what would change that. The kernel does not say; its switches do.
import { existsSync, readFileSync } from "node:fs";
import { type Environment, findProgram } from "./find-program.js";
import { findBwrap } from "./sandbox.js";

/** What can be seen of a machine. Switches are as the kernel shows them; null where it has none. */
export interface SandboxFacts {
  readonly platform: string;
  readonly installed: boolean;
  readonly works: boolean;
  /** Whether it gives a network of its own. */
  readonly network: boolean;
  /** Whether it gives an account of its own, which checks need. */
  readonly accounts: boolean;
  readonly root: boolean;
  readonly container: boolean;
  /** kernel.unprivileged_userns_clone, of Debian and its kin. */
  readonly clone: string | null;
  /** user.max_user_namespaces. */
  readonly most: string | null;
  /** kernel.apparmor_restrict_unprivileged_userns, of Ubuntu since 23.10. */
  readonly apparmor: string | null;
}

export interface SandboxHealth {
  /** held: everything; open: all but the network; agents: agents, and no checks; none: nothing is held. */
  readonly state: "held" | "open" | "agents" | "none";
  readonly message: string;
  /** A command that can be pasted, where there is one. */
  readonly fix?: string;
}

export async function sandboxHealth(env: Environment): Promise<SandboxHealth> {
  const bwrap = await findBwrap(env);
  return judgeSandbox({
    platform: process.platform,
    installed: findProgram("bwrap", env) !== null,
    works: bwrap !== null,
    network: bwrap?.network === true,
    accounts: bwrap?.accounts === true,
    root: process.getuid?.() === 0,
    container: ["/.dockerenv", "/run/.containerenv"].some((path) => existsSync(path)),
    clone: kernelSetting("kernel/unprivileged_userns_clone"),
    most: kernelSetting("user/max_user_namespaces"),
    apparmor: kernelSetting("kernel/apparmor_restrict_unprivileged_userns"),
  });
}

export function judgeSandbox(facts: SandboxFacts): SandboxHealth {
  if (facts.works && facts.network && facts.accounts) return { state: "held", message: "bubblewrap works" };
  if (facts.works && !facts.accounts) {
    const { reason, fix } = forbidden(facts);
    const message = `bubblewrap holds agents, but no checks: ${reason}; what was not made here does not run`;
    return { state: "agents", message, fix };
  }
  if (facts.works) {
    return {
      state: "open",
      message: "bubblewrap works, but gives no network of its own: what was not made here does not run",
      fix: facts.container ? CONTAINER : "sudo sysctl -w user.max_net_namespaces=15000",
    };
  }
  if (facts.platform !== "linux")
    return { state: "none", message: `bubblewrap is for Linux; there is no sandbox on ${facts.platform}` };
  if (!facts.installed) return { state: "none", message: "bubblewrap is not installed", fix: "apt install bubblewrap" };
  const { reason, fix } = forbidden(facts);
  return { state: "none", message: `bubblewrap is installed but not allowed here: ${reason}`, fix };
}

/** The container must be started with it; nothing inside can change that. */
const CONTAINER =
  "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …";

/** Lets bubblewrap alone make user namespaces, as Ubuntu's own profiles do for other programs. */
const PROFILE = [
  "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n'",
  "sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap",
].join(" | ");

/** Why no user namespaces are made here, as far as the kernel's switches tell. */
function forbidden({ root, container, clone, most, apparmor }: SandboxFacts): { reason: string; fix: string } {
  if (most === "0")
    return { reason: "user.max_user_namespaces is 0", fix: "sudo sysctl -w user.max_user_namespaces=15000" };
  if (!root && clone === "0")
    return {
      reason: "kernel.unprivileged_userns_clone is 0",
      fix: "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    };
  if (container) return { reason: "this container forbids name spaces, or covers parts of /proc", fix: CONTAINER };
  if (!root && apparmor === "1") return { reason: "AppArmor restricts user namespaces", fix: PROFILE };
  return { reason: "no switch says why", fix: "bwrap --ro-bind / / --unshare-user --unshare-pid --proc /proc true" };
}

function kernelSetting(name: string): string | null {
  try {
    return readFileSync(`/proc/sys/${name}`, "utf8").trim();
  } catch {
    return null;
  }
}
