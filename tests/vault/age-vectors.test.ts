// Every public test vector of the age format, through the command a person would use.
import { createHash } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { Desk } from "./run.js";

const vectors = (await import("cctv-age")) as unknown as { default?: Record<string, Uint8Array> } & Record<
  string,
  Uint8Array
>;
const all = Object.entries(vectors.default ?? vectors).filter(([name]) => name !== "default");
const desk = new Desk();
afterAll(() => desk.remove());

interface Vector {
  readonly fields: ReadonlyMap<string, string[]>;
  readonly file: Buffer;
}

function parse(bytes: Buffer): Vector {
  const end = bytes.indexOf("\n\n");
  const fields = new Map<string, string[]>();
  for (const line of bytes.subarray(0, end).toString("utf8").split("\n")) {
    const at = line.indexOf(": ");
    const key = line.slice(0, at);
    fields.set(key, [...(fields.get(key) ?? []), line.slice(at + 2)]);
  }
  const body = bytes.subarray(end + 2);
  return { fields, file: fields.get("compressed")?.[0] === "zlib" ? inflateSync(body) : body };
}

async function open({ fields, file }: Vector) {
  writeFileSync(desk.path("vector"), file);
  const identities = fields.get("identity") ?? [];
  writeFileSync(desk.path("identity"), `${identities.join("\n")}\n`, { mode: 0o600 });
  chmodSync(desk.path("identity"), 0o600);
  return desk.run(
    ["reveal", "--all", "--file", desk.path("vector"), ...(identities.length > 0 ? ["-i", desk.path("identity")] : [])],
    {
      env: { NUTSHELL_PASSPHRASE: fields.get("passphrase")?.[0] ?? "" },
    },
  );
}

describe("age vectors", () => {
  it("has them all", () => {
    expect(all.length).toBe(143);
  });

  it.each(all.map(([name, bytes]) => [name, parse(Buffer.from(bytes))] as const))("%s", async (_name, vector) => {
    const { code, bytes, err } = await open(vector);
    if (vector.fields.get("expect")?.[0] === "success") {
      expect(err).toBe("");
      expect(createHash("sha256").update(bytes).digest("hex")).toBe(vector.fields.get("payload")?.[0]);
      expect(code).toBe(0);
    } else {
      expect(bytes.length).toBe(0);
      expect(code, err).toBe(2);
    }
  });
});
