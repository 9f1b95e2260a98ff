// A request, the delivery that answers it, and a bundle made by someone who means harm.
import { gzipSync } from "node:zlib";
import type { Content } from "./folders.js";

export const SECRET = "CANARY-never-shown-4711";

/** One red pixel. */
export const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

/** Two blue ones. */
export const BLUE_PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGNgYPgPRAAFAgH/wSuWnwAAAABJRU5ErkJggg==",
  "base64",
);

const REQUEST_ID = "nut-11111111-2222-4333-8444-555555555555";

export const request: Content = {
  "nutshell.json": {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: REQUEST_ID,
    created_at: "2026-01-05T09:00:00Z",
    expires_at: "2099-01-01T00:00:00Z",
    task: {
      title: "Give the shop a wish list",
      summary: "People keep what they want for later.",
      priority: "high",
      estimated_effort: "PT6H",
    },
    tags: { skills_required: ["typescript", "sql"], domains: ["shop"], custom: { region: "north" } },
    publisher: { name: "Mira Holm", contact: "mira@example.com", tool: "nutshell" },
    context: { requirements: "context/requirements.md", architecture: "context/architecture.md" },
    apis: {
      endpoints_spec: "apis/endpoints.json",
      base_urls: { staging: "https://staging.example.com" },
      auth_method: "bearer_token",
    },
    credentials: {
      vault: "credentials/vault.enc.json",
      encryption: "age",
      scopes: [
        { name: "shop-db", type: "postgresql", access_level: "read-write", expires_at: "2099-01-01T00:00:00Z" },
        { name: "old-token", type: "bearer_token", expires_at: "2020-01-01T00:00:00Z" },
      ],
    },
    acceptance: {
      criteria_file: "tests/criteria.json",
      test_scripts: ["tests/run.sh"],
      checklist: ["A wish survives a restart"],
    },
    harness: {
      agent_type_hint: "execution",
      context_budget_hint: 0.35,
      execution_strategy: "incremental",
      constraints: ["Do not modify files outside files/src/"],
    },
    resources: {
      repos: [{ url: "https://example.com/shop", branch: "main" }],
      images: [{ path: "files/assets/sketch.png", description: "The sketch" }],
      links: [{ url: "https://example.com/ticket/7", title: "The ticket" }],
    },
    extensions: { board: { card: 7 } },
  },
  "context/requirements.md":
    "# Wishes\n\nA wish has **one owner**.\n\n| field | type |\n|---|---|\n| id | bigint |\n\n- [x] agreed\n\nSee [the design](architecture.md).\n",
  "context/architecture.md": "# Design\n\n![sketch](../files/assets/sketch.png)\n",
  "files/src/wish.ts": "// A wish.\nexport const wish = (title: string) => ({ title });\n",
  "files/src/kept.ts": "export const kept = true;\n",
  "files/assets/sketch.png": PIXEL,
  "apis/endpoints.json": {
    endpoints: [{ method: "POST", path: "/wishes", description: "Keep a wish", body_schema: "schemas/wish.json" }],
  },
  "apis/schemas/wish.json": { type: "object" },
  "credentials/vault.enc.json": `age-encryption.org/v1\n${SECRET}\n`,
  "tests/criteria.json": {
    criteria: [
      { id: "AC-1", description: "A wish is kept", type: "shell", script: "tests/run.sh", expected: { exit_code: 0 } },
    ],
  },
  "tests/run.sh": "#!/bin/sh\nexit 0\n",
};

export const delivery: Content = {
  "nutshell.json": {
    nutshell_version: "0.2.0",
    bundle_type: "delivery",
    id: "nut-99999999-2222-4333-8444-555555555555",
    request_id: REQUEST_ID,
    parent_id: REQUEST_ID,
    created_at: "2026-01-06T12:00:00Z",
    task: { title: "Give the shop a wish list" },
    acceptance: { checklist: ["A wish survives a restart"] },
  },
  "delivery/result.json": {
    request_id: REQUEST_ID,
    completed_at: "2026-01-06T12:00:00Z",
    deliverer: { name: "some agent", model: "some model", total_tokens: 45_000 },
    status: "partial",
    completion_percentage: 80,
    summary: "Wishes are kept; sharing is left.",
    artifacts: {
      files_created: [{ path: "delivery/artifacts/files/src/store.ts", lines: 1 }],
      files_modified: [{ path: "delivery/artifacts/files/src/wish.ts", diff_lines: 2 }],
    },
    acceptance_results: {
      tests_passed: 3,
      tests_failed: 1,
      tests_skipped: 0,
      criteria: [
        {
          id: "AC-1",
          description: "A wish is kept",
          status: "failed",
          evidence: "proven",
          reason: "the second wish was lost",
        },
      ],
      checklist: [{ item: "A wish survives a restart", status: "passed", evidence: "said" }],
    },
    execution_log: {
      strategy_used: "incremental",
      checkpoints: [{ at: "2026-01-06T10:00:00Z", description: "The table is there" }],
      decisions: [{ decision: "One table for all wishes", reason: "There are few of them" }],
      issues_encountered: ["staging was down"],
      credentials_used: ["shop-db"],
      full_log: "delivery/logs/execution.log",
    },
  },
  "delivery/artifacts/files/src/wish.ts":
    "// A wish.\nexport const wish = (title: string, owner: string) => ({ title, owner });\n",
  "delivery/artifacts/files/src/store.ts": "export const store = new Map();\n",
  "delivery/logs/execution.log": "done\n",
};

/** Sets window.hacked wherever something of it is taken for code. */
const EVIL = "<script>window.hacked=1</script><img src=x onerror=window.hacked=2>";

export const hostile: Content = {
  "nutshell.json": {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-66666666-2222-4333-8444-555555555555",
    task: {
      title: `</title></script>${EVIL} \u202etxt.exe`,
      summary: `${EVIL} {{constructor.constructor('window.hacked=3')()}}`,
      priority: { not: "text" },
    },
    tags: { skills_required: [EVIL, 7, null], custom: { __proto__x: EVIL } },
    publisher: { name: EVIL, contact: "javascript:window.hacked=4" },
    context: { requirements: "context/evil.md", additional: ["context/slow.md", "../../../etc/passwd"] },
    credentials: { vault: "secrets/hidden.txt", encryption: "none", scopes: [{ name: EVIL, type: "x" }, "nonsense"] },
    resources: {
      links: [
        { url: "javascript:window.hacked=5", title: "click me" },
        { url: "data:text/html,<script>1</script>", title: "data" },
      ],
    },
    extensions: { [EVIL]: { card: "</script>" } },
  },
  "context/evil.md": [
    "# Hello",
    EVIL,
    "[go](javascript:window.hacked=6) [also](JaVaScRiPt:window.hacked=6) <a href='javascript:window.hacked=7'>raw</a>",
    "![far](http://example.com/spy.png) ![x](javascript:window.hacked=8) [up](../../../../etc/passwd)",
    "<svg onload=window.hacked=9><iframe srcdoc='<script>parent.hacked=10</script>'></iframe>",
    "[ref]: javascript:window.hacked=11",
    "`<script>window.hacked=12</script>`",
    "[https://bank.example](https://evil.example/in)",
  ].join("\n\n"),
  "context/slow.md": "_a_".repeat(80_000),
  "files/slow.js": `const a = \`${"${".repeat(30_000)}`,
  "files/evil.svg":
    '<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=13"><script>window.hacked=14</script></svg>',
  "files/evil.html": "<!doctype html><script>window.hacked=15</script>",
  "files/</script><script>window.hacked=16</script>.txt": "a name\n",
  "files/not-a.png": "<script>window.hacked=17</script>",
  "secrets/hidden.txt": SECRET,
};

/** A bundle as an attacker writes it: no tool of ours had a say. */
export function forged(files: Content): Buffer {
  const blocks = Object.entries(files).flatMap(([path, content]) => {
    const bytes = Buffer.isBuffer(content)
      ? content
      : Buffer.from(typeof content === "string" ? content : JSON.stringify(content));
    return [header(path, bytes.length), bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([Buffer.from("NUT\x01", "latin1"), gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))]);
}

function header(path: string, size: number): Buffer {
  const block = Buffer.alloc(512);
  block.write(path, 0, 100, "utf8");
  block.write("0000644\0", 100);
  block.write("0000000\0", 108);
  block.write("0000000\0", 116);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136);
  block.write("        ", 148);
  block.write("0", 156);
  block.write("ustar\0", 257);
  block.write("00", 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
