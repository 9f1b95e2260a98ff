// A project set up for Codex, with a home whose settings name a scripted model.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newPlace, type Place } from "./clients.js";
import { type Rule, type ScriptedModel, scriptedModel } from "./scripted-model/server.js";

export interface CodexChoice {
  /** A name of Codex's own catalogue decides which tools it offers and how. */
  readonly slug: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Lines of config.toml before its first table. */
  readonly settings?: string;
}

export async function codexPlace(
  rules: readonly Rule[],
  { slug, files = {}, settings = "" }: CodexChoice,
): Promise<{ place: Place; model: ScriptedModel }> {
  const place = newPlace({ "a.txt": "hello\n", ...files });
  const model = await scriptedModel(rules);
  const { exit, stderr } = await place.nexusHere("setup", "codex");
  if (exit !== 0) throw new Error(stderr);
  mkdirSync(join(place.home, ".codex"), { recursive: true });
  const config = `
model = "${slug}"
model_provider = "scripted"
approval_policy = "never"
${settings}
[model_providers.scripted]
name = "scripted"
base_url = "${model.url}/v1"
wire_api = "responses"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
[features]
plugins = false
[projects."${place.root}"]
trust_level = "trusted"
`;
  writeFileSync(join(place.home, ".codex/config.toml"), config);
  return { place, model };
}
