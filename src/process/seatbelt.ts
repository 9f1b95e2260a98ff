// The policy of a sandbox as a profile for macOS's sandbox-exec. NOBODY HAS RUN IT: its syntax is checked by a reader of our own,
// and nothing counts a process it surrounds as held. The last rule that fits decides, so the order is that of the mounts.
import { realpathSync } from "node:fs";
import { NutError } from "../errors.js";
import type { Environment } from "./find-program.js";
import type { Mount, Sandbox } from "./sandbox.js";
import { programMounts } from "./visible-system.js";

/** What programs cannot start without, and what every account may read. */
const SYSTEM = [
  ..."/usr /bin /sbin /System /Library/Apple /Library/Developer/CommandLineTools /private/etc/ssl".split(" "),
  ..."/private/etc/hosts /private/etc/passwd /private/etc/resolv.conf /private/etc/localtime".split(" "),
  ..."/private/var/db/dyld /private/var/db/timezone /private/var/select".split(" "),
];
const DEVICES = ["null", "zero", "random", "urandom", "tty", "dtracehelper"].map((name) => `/dev/${name}`);

/** Names of accounts, of hosts, whom the system trusts, and its log. Keychains and everything else are not asked. */
const SERVICES = [
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.system.opendirectoryd.membership",
  "com.apple.system.notification_center",
  "com.apple.system.logger",
  "com.apple.SystemConfiguration.configd",
  "com.apple.dnssd.service",
  "com.apple.trustd.agent",
];

/** Throws SANDBOX_MISSING for what no profile can say: a path under another name, or layers. */
export function seatbeltProfile(
  sandbox: Sandbox,
  env: Environment = {},
  real: (path: string) => string = realOf,
): string {
  const { root, mounts = [], network, programs = [] } = sandbox;
  const shown = root === "system" ? programMounts({ env: sandbox.env ?? env, programs }) : [];
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-fork process-exec)",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    // A way to a file goes through the folders above it. Names can so be seen, and nothing in them.
    "(allow file-read-metadata)",
    rule(
      "allow",
      ["mach-lookup"],
      SERVICES.map((name) => filter("global-name", name)),
    ),
    ...wholeRules(root),
    rule("allow", READ, [filter("literal", "/"), ...SYSTEM.map((path) => filter("subpath", path))]),
    rule(
      "allow",
      BOTH,
      DEVICES.map((path) => filter("literal", path)),
    ),
    ...[...shown, ...mounts].flatMap((mount) => mountRules(mount, real)),
    ...(network === "host" ? ["(allow network*)", "(allow system-socket)"] : []),
    "",
  ].join("\n");
}

const READ = ["file-read*"];
const WRITE = ["file-write*"];
const BOTH = [...READ, ...WRITE];

const rule = (verdict: "allow" | "deny", operations: readonly string[], filters: readonly string[]): string =>
  `(${[verdict, ...operations, ...filters].join(" ")})`;

function wholeRules(root: Sandbox["root"]): string[] {
  if (root === "system") return [];
  return [`(allow ${(root === "writable" ? BOTH : READ).join(" ")})`];
}

function mountRules(mount: Mount, real: (path: string) => string): string[] {
  const below = filter("subpath", real(mount.path));
  switch (mount.access) {
    case "read-only":
    case "writable":
      if (real(mount.from ?? mount.path) !== real(mount.path)) throw impossible(mount.path);
      return mount.access === "writable"
        ? [rule("allow", BOTH, [below])]
        : [rule("allow", READ, [below]), rule("deny", WRITE, [below])];
    case "frozen":
      return [rule("deny", WRITE, [below])];
    case "hidden":
    case "hidden-file":
      return [rule("deny", BOTH, [below])];
    case "link":
    case "overlay":
      throw impossible(mount.path);
  }
}

function filter(kind: "literal" | "subpath" | "global-name", value: string): string {
  if (/[\p{Cc}]/u.test(value)) throw impossible(value);
  return `(${kind} "${value.replace(/["\\]/g, "\\$&")}")`;
}

const impossible = (path: string) =>
  new NutError("SANDBOX_MISSING", `sandbox-exec cannot show ${JSON.stringify(path)} as it is asked for`, {
    hint: "nexus doctor",
    data: { path },
  });

/** Rules are about where a path leads in the end. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
