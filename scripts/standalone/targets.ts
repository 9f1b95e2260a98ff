// What the single files are made for, and the Bun that makes them.
import { join } from "node:path";
import { root } from "../bundling.mjs";
import { fetchPackage } from "../fetch-package.js";

export const cache = join(root, ".cache/standalone");

export const BUN = "1.4.4";
interface Target {
  readonly bun: string;
  readonly integrity: string;
  /** As the kernel lock's addon names it. */
  readonly addon: string;
  readonly suffix?: string;
}

/** "baseline" runs on every 64-bit processor of its kind, not only on those of the last ten years. */
export const TARGETS: Readonly<Record<string, Target>> = {
  "linux-amd64": {
    bun: "bun-linux-x64-baseline",
    integrity: "sha512-FBU6T21NT+i+rESbi0Z8A8G5xN51c+WZ0v6pIjI6szSzOlqVNv64nf7FPnwNIyxKD1M7Wg5cEobLC/QbzCeLtA==",
    addon: "linux-x64",
  },
  "linux-arm64": {
    bun: "bun-linux-aarch64",
    integrity: "sha512-ZTVtpf9zmHSBVPX1sBwe5agGb/rN34yPGg/Hby8e2Ax2uCUA2URZKlZH7qLntK7qaFJCMXh9v0GWNYN2zINz1w==",
    addon: "linux-arm64",
  },
  "darwin-amd64": {
    bun: "bun-darwin-x64-baseline",
    integrity: "sha512-uzSXckTnNNS7Un1ihiM31R7P5iKndZ65t6Zj3iI72SrfoV2uI97MKM8z1qer2oRHyqXHLUIJTIhj+qT5UeEjrw==",
    addon: "darwin-x64",
  },
  "darwin-arm64": {
    bun: "bun-darwin-aarch64",
    integrity: "sha512-zW/hxwc8sJAILGwB5eTC4i48ouGXf0V4lrxmEOk3JIE6JkYVW1TZh1E2pIempqsezgW1sckTIIDudFON8bJ2Mw==",
    addon: "darwin-arm64",
  },
  "windows-amd64": {
    bun: "bun-windows-x64-baseline",
    integrity: "sha512-c+169V+ole29sk5GpFuh6Q4uNwRDqu9tXZAVUYIsdfGZeiJeduQ030BkxHi3PmNpj7w/ec2+oO2okRFVFC9i1g==",
    addon: "win32-x64",
    suffix: ".exe",
  },
};

/** The name of this machine's target. */
export function hostTarget(): string | null {
  const os = { linux: "linux", darwin: "darwin", win32: "windows" }[process.platform as string];
  const arch = { x64: "amd64", arm64: "arm64" }[process.arch as string];
  const name = `${os}-${arch}`;
  return name in TARGETS ? name : null;
}

/** Bun for a target, fetched when it is not there yet. Throws when npm cannot bring it. */
export function bunOf(name: string): string {
  const { bun, integrity, suffix = "" } = TARGETS[name]!;
  return join(fetchPackage({ name: `@oven/${bun}`, version: BUN, integrity }, cache), "bin", `bun${suffix}`);
}
