// The manifest alone, made safe to show. Costs the same whether the bundle holds twenty files or twenty thousand.
import { isNewer, SOON_MS } from "../../bundle/index.js";
import type { CredentialRow, DocumentRow, Head, Resource } from "./model.js";
import { facts, type Loose, line, list, number, object, text, texts } from "./safe-text.js";
import type { ViewSource } from "./source.js";

const MAX_MANIFEST_SHOWN = 60_000;

export function headOf({ side, manifest: typed, compression }: ViewSource, now: Date): Head {
  const manifest = typed as Loose;
  const task = object(manifest.task);
  const files = object(manifest.files);
  const apis = object(manifest.apis);
  const credentials = object(manifest.credentials);
  const acceptance = object(manifest.acceptance);
  const harness = object(manifest.harness);
  const publisher = object(manifest.publisher);
  return {
    side,
    id: text(manifest.id, 100),
    kind: text(manifest.bundle_type, 40) || "bundle",
    formatVersion: text(manifest.nutshell_version, 40),
    isNewer: isNewer(typed),
    title: text(task.title, 500),
    summary: text(task.summary),
    priority: text(task.priority, 40),
    effort: text(task.estimated_effort, 80),
    createdAt: text(manifest.created_at, 40),
    expiresAt: text(manifest.expires_at, 40),
    isExpired: Date.parse(text(manifest.expires_at, 40)) <= now.getTime(),
    publisher: facts([
      ["name", publisher.name],
      ["contact", publisher.contact],
      ["tool", publisher.tool],
    ]),
    tags: tagsOf(object(manifest.tags)),
    constraints: texts(harness.constraints),
    harness: facts([
      ["agent", harness.agent_type_hint],
      ["strategy", harness.execution_strategy],
      ["checkpoints", harness.checkpoints],
      ["context budget", percent(number(harness.context_budget_hint))],
    ]),
    resources: resourcesOf(object(manifest.resources)),
    documents: documentsOf(object(manifest.context)),
    baseUrls: facts(Object.entries(object(apis.base_urls)).slice(0, 50)),
    apiAuth: text(apis.auth_method, 100),
    encryption: text(credentials.encryption, 40),
    hasVault: typeof credentials.vault === "string",
    credentials: list(credentials.scopes).map((scope) => credentialOf(object(scope), now)),
    checklist: texts(acceptance.checklist),
    testScripts: texts(acceptance.test_scripts),
    links: linksOf(manifest),
    extensions: Object.entries(object(manifest.extensions))
      .slice(0, 50)
      .map(([name, value]) => ({ name: text(name, 100), json: text(JSON.stringify(value, null, 2), 8_000) })),
    fileCount: number(files.total_count) ?? list(files.tree).length,
    totalBytes: number(files.total_size_bytes) ?? 0,
    compression,
    compressedBytes: number(object(manifest.compression).compressed_size_bytes),
    manifestJson: manifestText(manifest),
  };
}

function percent(share: number | null): string | undefined {
  return share === null ? undefined : `${Math.round(share * 100)} %`;
}

function tagsOf(tags: Loose): Head["tags"] {
  const named: readonly (readonly [string, unknown])[] = [
    ["skills", tags.skills_required],
    ["skills used", tags.skills_used],
    ["tools used", tags.tools_used],
    ["domains", tags.domains],
    ["data sources", tags.data_sources],
  ];
  const custom = facts(Object.entries(object(tags.custom)).slice(0, 50)).map(({ name, value }) => `${name}: ${value}`);
  return [
    ...named.map(([name, value]) => ({ name, values: texts(value) })),
    { name: "custom", values: custom },
    { name: "complexity", values: texts([tags.complexity_actual]) },
  ].filter(({ values }) => values.length > 0);
}

function resourcesOf(resources: Loose): Resource[] {
  const rows = (value: unknown, kind: Resource["kind"], target: string, title: (row: Loose) => string): Resource[] =>
    list(value)
      .map(object)
      .map((row) => ({ kind, target: text(row[target], 2_000), title: title(row) }))
      .filter((row) => row.target !== "");
  return [
    ...rows(resources.repos, "repository", "url", ({ branch, relevance }) =>
      [text(branch, 100), text(relevance, 100)].filter(Boolean).join(", "),
    ),
    ...rows(resources.docs, "document", "url", ({ title }) => text(title, 300)),
    ...rows(resources.images, "image", "path", ({ description }) => text(description, 500)),
    ...rows(resources.links, "link", "url", ({ title }) => text(title, 300)),
  ];
}

function documentsOf(context: Loose): DocumentRow[] {
  const named = (["requirements", "architecture", "references"] as const).map((label) => ({
    label: label as string,
    path: text(context[label], 1_024),
  }));
  const more = texts(context.additional).map((path) => ({ label: path.split("/").at(-1) ?? path, path }));
  return [...named, ...more]
    .filter(({ path }) => path !== "")
    .map((row) => ({ ...row, path: row.path.replace(/^\.\//, "") }));
}

function credentialOf(scope: Loose, now: Date): CredentialRow {
  const expiresAt = text(scope.expires_at, 40);
  return {
    name: text(scope.name, 200),
    type: text(scope.type, 100),
    access: text(scope.access_level, 100),
    rateLimit: text(scope.rate_limit, 100),
    expiresAt,
    state: expiryOf(expiresAt, now),
  };
}

function expiryOf(expiresAt: string, now: Date): CredentialRow["state"] {
  if (expiresAt === "") return "no expiry";
  const left = Date.parse(expiresAt) - now.getTime();
  if (Number.isNaN(left)) return "unreadable";
  return left <= 0 ? "expired" : left <= SOON_MS ? "soon" : "valid";
}

function linksOf(manifest: Loose): Head["links"] {
  const split = object(object(manifest.extensions).split);
  const part = split.part_index === undefined ? "" : `part ${line(split.part_index)} of ${line(split.part_total)} of`;
  return [
    { relation: "follows from", id: text(manifest.parent_id, 100) },
    { relation: "answers", id: text(manifest.request_id, 100) },
    { relation: part || "part of", id: text(split.parent_id, 100) },
  ].filter(({ id }) => id !== "");
}

/** Without the tree, which the files view shows. */
function manifestText(manifest: Loose): string {
  const { files, ...rest } = manifest;
  const { tree, ...counts } = object(files);
  const shown =
    files === undefined ? rest : { ...rest, files: { ...counts, ...(tree === undefined ? {} : { tree: "…" }) } };
  return text(JSON.stringify(shown, null, 2), MAX_MANIFEST_SHOWN);
}
