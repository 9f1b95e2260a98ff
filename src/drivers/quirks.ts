// What is peculiar to each program, as data. Every row was seen with the real program or is marked as not tried; the
// test that shows it is named in docs/drivers.md.
import { KNOWN_VERSIONS, type KnownVersions } from "../process/index.js";
import type { Ability, DriverName, Support } from "./driver.js";

export interface Quirks {
  readonly program: string;
  readonly versionArgs: readonly string[];
  /** Which ones are supported; null when any may be. */
  readonly versions: KnownVersions | null;
  readonly install: string;
  readonly abilities: Readonly<Record<Ability, Support>>;
  /** Folders and files of a work tree the program obeys, or runs code from, before any permission is asked. */
  readonly obeys: readonly string[];
}

/** What the three agent programs have in common. */
const COMMON_ABILITIES = {
  resume: "native",
  cancel: "emulated",
  mcp: "native",
  usage: "native",
  files: "native",
  deny_edit: "native",
  deny_shell: "native",
} as const;

export const QUIRKS: Readonly<Record<DriverName, Quirks>> = {
  codex: {
    program: "codex",
    versionArgs: ["--version"],
    versions: KNOWN_VERSIONS.codex,
    install: KNOWN_VERSIONS.codex.install,
    abilities: { ...COMMON_ABILITIES, budget: "absent", report: "native" },
    obeys: [".codex", ".agents"],
  },
  claude: {
    program: "claude",
    versionArgs: ["--version"],
    versions: KNOWN_VERSIONS.claude,
    install: KNOWN_VERSIONS.claude.install,
    abilities: { ...COMMON_ABILITIES, budget: "native", report: "native" },
    obeys: [".claude", ".mcp.json"],
  },
  opencode: {
    program: "opencode",
    versionArgs: ["--version"],
    versions: KNOWN_VERSIONS.opencode,
    install: KNOWN_VERSIONS.opencode.install,
    abilities: { ...COMMON_ABILITIES, budget: "absent", report: "emulated" },
    obeys: [".opencode", ".claude", ".agents"],
  },
  acp: {
    program: "opencode",
    versionArgs: ["--version"],
    versions: null,
    install: 'nexus run task.nut --driver acp --command "opencode acp"',
    abilities: {
      resume: "native",
      cancel: "native",
      mcp: "native",
      usage: "native",
      files: "native",
      deny_edit: "emulated",
      deny_shell: "emulated",
      budget: "absent",
      report: "emulated",
    },
    obeys: [".opencode", ".claude", ".mcp.json", ".codex", ".gemini", ".qwen", ".agents"],
  },
  command: {
    program: "sh",
    versionArgs: [],
    versions: null,
    install: 'nexus run task.nut --driver command --command "my-agent"',
    abilities: {
      resume: "absent",
      cancel: "emulated",
      mcp: "emulated",
      usage: "emulated",
      files: "emulated",
      deny_edit: "emulated",
      deny_shell: "absent",
      budget: "absent",
      report: "emulated",
    },
    obeys: [],
  },
};
