// Format 0.1.0 knew ClawNet in the middle of the manifest; 0.2.0 keeps it under extensions. Reading upgrades.
import { keepSpelling } from "../../files/index.js";

type Json = Record<string, unknown>;

/** Where 0.1.0 kept what now lives in extensions.clawnet. */
const MOVED: readonly (readonly [from: readonly string[], to: string])[] = [
  [["publisher", "peer_id"], "peer_id"],
  [["publisher", "reputation"], "reputation"],
  [["task", "reward"], "reward"],
  [["peer_id"], "peer_id"],
  [["reputation"], "reputation"],
  [["reward"], "reward"],
  [["gossip_topic"], "gossip_topic"],
];

/** Returns the manifest as 0.2.0; anything but 0.1.x is returned as it is. */
export function upgradeManifest(manifest: Json): Json {
  const version = manifest.nutshell_version;
  if (typeof version !== "string" || !version.startsWith("0.1.")) return manifest;
  const upgraded: Json = keepSpelling({ ...manifest, nutshell_version: "0.2.0" }, manifest);
  const extensions = isObject(manifest.extensions) ? manifest.extensions : {};
  const inline = isObject(manifest.clawnet) ? manifest.clawnet : {};
  const clawnet: Json = { ...inline };
  delete upgraded.clawnet;
  for (const [from, to] of MOVED) moveOut(upgraded, from, clawnet, to);
  const extension = isObject(extensions.clawnet) ? extensions.clawnet : {};
  const merged = { ...clawnet, ...extension };
  if (Object.keys(merged).length > 0) upgraded.extensions = { ...extensions, clawnet: merged };
  return upgraded;
}

function moveOut(manifest: Json, from: readonly string[], clawnet: Json, to: string): void {
  const [first, second] = from;
  if (second === undefined) {
    if (manifest[first!] === undefined) return;
    clawnet[to] ??= manifest[first!];
    delete manifest[first!];
    return;
  }
  const parent = manifest[first!];
  if (!isObject(parent) || parent[second] === undefined) return;
  const { [second]: moved, ...rest } = parent;
  clawnet[to] ??= moved;
  manifest[first!] = keepSpelling(rest, parent);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
