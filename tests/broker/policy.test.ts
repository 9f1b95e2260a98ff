// What a credential allows, read from what its publisher wrote, and what of it is only a promise.
import { describe, expect, it } from "vitest";
import { limitWords, policyOf } from "../../src/broker/index.js";
import type { Endpoints } from "../../src/schema/endpoints.js";

interface Written {
  readonly type?: string;
  readonly value?: string | Record<string, unknown>;
  readonly scopes?: string[];
  readonly restrictions?: Record<string, unknown>;
  readonly endpoints?: Endpoints;
  readonly baseUrls?: Record<string, string>;
  readonly access?: string;
  readonly others?: string[];
}

function read({
  type = "bearer_token",
  value = "a-long-secret",
  endpoints,
  baseUrls,
  access,
  others = [],
  ...rest
}: Written) {
  const scope = { name: "api", type, ...(access === undefined ? {} : { access_level: access }) };
  return policyOf({
    credential: { name: "api", type, value, ...rest },
    scope,
    expiresAt: null,
    manifest: {
      ...(baseUrls === undefined ? {} : { apis: { base_urls: baseUrls } }),
      credentials: { scopes: [scope, ...others.map((name) => ({ name, type: "bearer_token" }))] },
    },
    endpoints: endpoints ?? null,
  });
}
const bases = (written: Written) => {
  const { service } = read(written);
  return service?.kind === "http" ? service.bases : null;
};

describe("where a credential may go", () => {
  it.each([
    [
      "what the publisher wrote",
      { restrictions: { base_url: "https://a.example/v1/" }, value: { token: "x-secret", url: "https://b.example" } },
      ["https://a.example/v1"],
    ],
    ["several hosts", { restrictions: { hosts: "a.example, b.example" } }, ["https://a.example", "https://b.example"]],
    ["its own value", { value: { token: "x-secret", base_url: "https://b.example" } }, ["https://b.example"]],
    [
      "endpoints that name it",
      { endpoints: { base_url: "https://c.example", auth: { credential_ref: "api" }, endpoints: [] } },
      ["https://c.example"],
    ],
    [
      "base_urls under its name",
      { baseUrls: { api: "https://d.example", other: "https://e.example" }, others: ["other"] },
      ["https://d.example"],
    ],
    ["the only service, for the only key", { baseUrls: { main: "https://e.example" } }, ["https://e.example"]],
    ["no guess among two keys", { baseUrls: { main: "https://e.example" }, others: ["second"] }, null],
    ["no guess among two services", { baseUrls: { a: "https://e.example", b: "https://f.example" } }, null],
    ["no wildcard", { restrictions: { hosts: "*.example" } }, null],
    ["no address with a login in it", { restrictions: { base_url: "https://u:p@a.example" } }, null],
    ["no other protocol", { restrictions: { base_url: "ftp://a.example" } }, null],
    ["nowhere", {}, null],
  ] as const)("%s", (_name, written, wanted) => {
    expect(bases(written as Written)).toEqual(wanted);
  });
});

describe("limits", () => {
  const base = { base_url: "https://a.example" };

  it("are read in one vocabulary", () => {
    const restrictions = {
      ...base,
      methods: "get,post",
      paths: ["/a", "b/**"],
      rate_limit: "5 per second",
      calls: "7",
      bytes: "2MB",
      window: "22:00-06:00",
      not_before: "2026-01-01T00:00:00Z",
      roles: "engineer",
    };
    const { limits, promised } = read({ scopes: ["read", "write"], restrictions });
    expect(limitWords(limits)).toEqual([
      "methods GET, POST",
      "paths /a, /b/**",
      "5 uses per 1 s",
      "7 uses",
      "2000000 bytes",
      "22:00-06:00 UTC",
      "from 2026-01-01T00:00:00Z",
      "for engineer",
    ]);
    expect(promised).toEqual([]);
  });

  it.each([
    ["read", undefined, true],
    ["read-only", undefined, true],
    ["read-write", undefined, false],
    [undefined, ["read"], true],
    [undefined, ["read", "write"], false],
    [undefined, undefined, false],
  ])("access %s and scopes %j: read only %s", (access, scopes, wanted) => {
    const { limits } = read({
      restrictions: base,
      ...(access === undefined ? {} : { access }),
      ...(scopes === undefined ? {} : { scopes }),
    });
    expect(limits.readOnly).toBe(wanted);
  });

  it("that nothing here holds are called promises", () => {
    expect(
      read({
        restrictions: { ...base, ip_allow: "10.0.0.0/8", tables: "users", rate_limit: "often", calls: "many" },
        scopes: ["repo:status"],
      }).promised,
    ).toEqual(["rate_limit: often", "scope: repo:status", "tables: users", "calls: many", "ip_allow: 10.0.0.0/8"]);
    expect(
      read({ type: "mongodb", scopes: ["read"], restrictions: { tables: "users", roles: "engineer" } }),
    ).toMatchObject({
      service: null,
      why: "nothing here speaks for a credential of type mongodb",
      promised: ["access: read", "tables: users"],
    });
  });

  it.each([
    ["ssh_key", "no key at all"],
    ["postgresql", "postgres://"],
    ["postgresql", { host: "/run/postgresql", user: "u" }],
    ["git", "token"],
    ["bearer_token", "two\nlines"],
  ])("a %s that makes no sense is not lent", (type, value) => {
    const { service, why } = read({
      type,
      value,
      restrictions: base.base_url === "" ? {} : type === "git" ? {} : base,
    });
    expect([service, typeof why]).toEqual([null, "string"]);
  });
});
