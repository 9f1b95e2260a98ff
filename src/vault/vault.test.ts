import { describe, expect, it } from "vitest";
import { generateAgeIdentity } from "./age.js";
import { checkBackend, detectBackend, openVault, readVault, sealVault } from "./vault.js";

const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const credential = { name: "db", type: "postgresql", value: "hunter22" };
const vault = { vault_version: "0.2.0", credentials: [credential] };
const damaged = expect.objectContaining({ code: "VAULT_DAMAGED" });

describe("a vault", () => {
  it("opens for those it was sealed for, remembers them inside, and opens for nobody else", async () => {
    const [a, b, stranger] = await Promise.all([generateAgeIdentity(), generateAgeIdentity(), generateAgeIdentity()]);
    const recipients = [a.recipient, b.recipient];
    const sealed = await sealVault({ ...vault, recipients: ["age1old"] }, "age", { recipients }, { identities: [] });
    expect(Buffer.from(sealed).toString("latin1")).not.toContain("hunter22");
    for (const { identity } of [a, b]) {
      const opened = await openVault(sealed, "age", { identities: [identity] });
      expect(opened).toMatchObject({ backend: "age", target: { recipients }, vault: { credentials: [credential] } });
    }
    await expect(openVault(sealed, "age", { identities: [stranger.identity] })).rejects.toMatchObject({
      code: "VAULT_NO_MATCHING_KEY",
    });
  });

  it("in clear is refused unless the manifest says that it is", async () => {
    const clear = bytes(vault);
    expect(detectBackend(clear)).toBe("none");
    for (const declared of ["age", "sops", undefined]) {
      expect(() => checkBackend(clear, declared)).toThrow(expect.objectContaining({ code: "VAULT_IN_CLEAR" }));
      await expect(openVault(clear, declared, { identities: [] })).rejects.toMatchObject({ code: "VAULT_IN_CLEAR" });
    }
    expect(checkBackend(clear, "none")).toBe("none");
  });

  it("must be what the manifest says, and something we know", async () => {
    const { recipient } = await generateAgeIdentity();
    const sealed = await sealVault(vault, "age", { recipients: [recipient] }, { identities: [] });
    expect(() => checkBackend(sealed, "sops")).toThrow(expect.objectContaining({ code: "VAULT_BACKEND" }));
    expect(() => checkBackend(bytes("something else"), "age")).toThrow(damaged);
  });

  it("of more than 64 MiB is not opened", async () => {
    const huge = Buffer.alloc(64 * 1024 * 1024 + 1, 0x20);
    await expect(openVault(huge, "none", { identities: [] })).rejects.toMatchObject({ code: "BUNDLE_LIMIT" });
  });
});

describe("readVault", () => {
  const deep = "[".repeat(70) + "]".repeat(70);
  it.each([
    ["no list of credentials", { vault_version: "0.2.0" }],
    ["a credential that is none", { credentials: [null] }],
    ["a credential without a name", { credentials: [{ ...credential, name: "" }] }],
    ["two credentials of one name", { credentials: [credential, credential] }],
    ["a credential without a type", { credentials: [{ ...credential, type: 1 }] }],
    ["a value that is a list", { credentials: [{ ...credential, value: ["x"] }] }],
    ["a value that is nothing", { credentials: [{ ...credential, value: null }] }],
    ["scopes that are no list", { credentials: [{ ...credential, scopes: "read" }] }],
    ["restrictions that are text", { credentials: [{ ...credential, restrictions: "x" }] }],
    ["an expiry that is a number", { credentials: [{ ...credential, expires_at: 1 }] }],
    ["a revocation that is a number", { credentials: [{ ...credential, revoked_at: 1 }] }],
    ["a field named __proto__", '{"credentials":[],"__proto__":{}}'],
    ["a field named __proto__, in other letters", '{"credentials":[],"\\u005f_proto__":{}}'],
    ["what is nested too deeply", `{"credentials":[],"x":${deep}}`],
    ["what is no JSON", "{hunter22"],
  ])("refuses %s, and quotes nothing of it", (_what, value) => {
    expect(() => readVault(bytes(value))).toThrow(damaged);
    try {
      readVault(bytes(value));
    } catch (error) {
      expect(String(error)).not.toContain("hunter22");
    }
  });

  it("refuses what is not UTF-8", () => {
    expect(() => readVault(Buffer.concat([bytes('{"credentials":[],"x":"'), Buffer.of(0xff), bytes('"}')]))).toThrow(
      damaged,
    );
  });
});
