import { describe, expect, it } from "vitest";
import type { CredentialScope } from "../schema/manifest.js";
import type { Credential, Vault } from "../schema/vault.js";
import { handOut, variablesOf } from "./hand-out.js";

const NOW = new Date("2026-03-14T10:00:00Z");
const [PAST, FUTURE] = ["2026-03-14T09:00:00Z", "2026-04-01T00:00:00Z"];

const credential = (more: Partial<Credential> = {}): Credential => ({
  name: "db",
  type: "postgresql",
  value: "hunter22",
  ...more,
});
const vault = (credentials: readonly Credential[], more: Partial<Vault> = {}): Vault => ({
  vault_version: "0.2.0",
  credentials: [...credentials],
  ...more,
});
const scope = (more: Partial<CredentialScope> = {}): CredentialScope => ({ name: "db", type: "postgresql", ...more });
const give = (from: Vault, names: readonly string[] = ["db"], scopes: readonly CredentialScope[] = []) =>
  handOut({ vault: from, names, scopes, purpose: "a test", now: NOW });

describe("handOut", () => {
  it("gives the credentials named, and tells what was given without the value", () => {
    const restricted = credential({ scopes: ["read"], restrictions: { hosts: ["db"] }, expires_at: FUTURE });
    const given = give(vault([restricted, credential({ name: "other", value: "not-asked-for" })]), ["db", "db"]);
    expect(given.env).toEqual({ DB: "hunter22" });
    expect(given.secrets).toEqual([{ name: "db", value: "hunter22" }]);
    expect(given.uses).toEqual([{ name: "db", at: "2026-03-14T10:00:00Z", purpose: "a test" }]);
    expect(given.terms).toEqual([
      {
        name: "db",
        type: "postgresql",
        scopes: ["read"],
        restrictions: { hosts: ["db"] },
        expires_at: FUTURE,
        variables: ["DB"],
      },
    ]);
    expect(JSON.stringify([given.uses, given.terms])).not.toContain("hunter22");
  });

  it.each([
    ["the vault", vault([credential()], { expires_at: PAST }), []],
    ["the credential", vault([credential({ expires_at: PAST })]), []],
    ["the manifest's scope", vault([credential({ expires_at: FUTURE })]), [scope({ expires_at: PAST })]],
    ["nobody can read its expiry, and it", vault([credential({ expires_at: "next week" })]), []],
  ] as const)("refuses when %s has expired", (_what, from, scopes) => {
    expect(() => give(from, ["db"], scopes)).toThrow(expect.objectContaining({ code: "CREDENTIAL_EXPIRED" }));
  });

  it.each([
    ["the vault", vault([credential({ revoked_at: PAST })]), []],
    ["the manifest's scope", vault([credential()]), [scope({ revoked_at: PAST })]],
  ] as const)("refuses when it was revoked in %s", (_what, from, scopes) => {
    expect(() => give(from, ["db"], scopes)).toThrow(expect.objectContaining({ code: "CREDENTIAL_REVOKED" }));
  });

  it("takes the scope of the same name only", () => {
    expect(give(vault([credential()]), ["db"], [scope({ name: "other", revoked_at: PAST })]).env).toEqual({
      DB: "hunter22",
    });
  });

  it("tells the earliest of all ends", () => {
    const from = vault([credential({ expires_at: "2026-03-20T00:00:00Z" })], { expires_at: FUTURE });
    expect(give(from, ["db"], [scope({ expires_at: "2026-03-18T00:00:00Z" })]).terms[0]?.expires_at).toBe(
      "2026-03-18T00:00:00Z",
    );
  });

  it("refuses a name the vault does not have, and two that would be one variable", () => {
    expect(() => give(vault([]))).toThrow(expect.objectContaining({ code: "CREDENTIAL_NOT_FOUND" }));
    const twins = vault([credential({ name: "a-b" }), credential({ name: "a_b" })]);
    expect(() => give(twins, ["a-b", "a_b"])).toThrow(expect.objectContaining({ code: "CREDENTIAL_UNSAFE_NAME" }));
  });
});

describe("variablesOf", () => {
  it("makes one variable of a text, and one of each field of an object", () => {
    expect(variablesOf({ name: "staging-db", value: "x" })).toEqual({ STAGING_DB: "x" });
    expect(variablesOf({ name: "db", value: { host: "h", port: 5432 } })).toEqual({
      DB: '{"host":"h","port":5432}',
      DB_HOST: "h",
      DB_PORT: "5432",
    });
    expect(variablesOf({ name: "1st", value: "x" })).toEqual({ _1ST: "x" });
    expect(variablesOf({ name: "openai-api-key", value: "x" })).toEqual({ OPENAI_API_KEY: "x" });
  });

  it.each([
    "path",
    "ld-preload",
    "node-options",
    "https-proxy",
    "git-ssh-command",
    "nutshell-identity",
    "npm_config_x",
    "anthropic-base-url",
    "openai-base-url",
    "claude-code-use-bedrock",
    "codex-home",
    "openssl-conf",
    "makeflags",
    "shellopts",
    "ps4",
    "bashopts",
    "_java_options",
    "bun-options",
    "rustc-wrapper",
    "lua-init",
    "awklibpath",
    "nutcracker-consent",
    "libmount-fstab",
  ])("refuses %s, which programs obey", (name) => {
    expect(() => variablesOf({ name, value: "x" })).toThrow(
      expect.objectContaining({ code: "CREDENTIAL_UNSAFE_NAME" }),
    );
  });

  it("refuses fields that become one variable, and a NUL", () => {
    const unsafe = expect.objectContaining({ code: "CREDENTIAL_UNSAFE_NAME" });
    expect(() => variablesOf({ name: "db", value: { "a-b": "1", a_b: "2" } })).toThrow(unsafe);
    expect(() => variablesOf({ name: "db", value: "a\0b" })).toThrow(unsafe);
    expect(() => variablesOf({ name: "ld", value: { preload: "x" } })).toThrow(unsafe);
  });
});
