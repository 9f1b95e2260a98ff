import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { ageEncrypt, generateAgeIdentity } from "./age.js";
import { sopsBackend } from "./sops-backend.js";

const DOUBLE = fileURLToPath(new URL("../../tests/vault/sops-double.mjs", import.meta.url));
const content = {
  credentials: [{ name: "db", value: { password: "hunter22", host: "db" } }],
  note_unencrypted: "open",
};

interface Tree {
  credentials: { name: string; value: Record<string, string> }[];
  note_unencrypted: string;
  sops: { age: { enc: string }[]; mac: string };
}

let identity: string;
let recipient: string;
let sealed: string;
beforeAll(async () => {
  ({ identity, recipient } = await generateAgeIdentity());
  const run = async (_program: string, args: readonly string[], input: Uint8Array) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [DOUBLE, ...args], { input });
    return { status: status ?? 1, stdout, stderr: stderr.toString() };
  };
  const target = { recipients: [recipient] };
  sealed = Buffer.from(
    await sopsBackend.seal(Buffer.from(JSON.stringify(content)), target, { identities: [], run }),
  ).toString();
});

const open = (text: string, identities = [identity]) => sopsBackend.open(Buffer.from(text), { identities });
const damaged = { code: "VAULT_DAMAGED" };
function changed(change: (tree: Tree) => void): string {
  const tree = JSON.parse(sealed) as Tree;
  change(tree);
  return JSON.stringify(tree);
}

describe("a sops vault", () => {
  it("opens with its key and tells who it is for", async () => {
    expect(sealed).not.toContain("hunter22");
    expect(JSON.parse(Buffer.from(await open(sealed)).toString())).toEqual(content);
    expect(await sopsBackend.targetOf(Buffer.from(sealed))).toEqual({ recipients: [recipient] });
    const other = await generateAgeIdentity();
    await expect(open(sealed, [other.identity])).rejects.toMatchObject({ code: "VAULT_NO_MATCHING_KEY" });
    await expect(open(sealed, [])).rejects.toMatchObject({ code: "VAULT_NO_MATCHING_KEY" });
  });

  it.each<[string, (tree: Tree) => void]>([
    [
      "a value in clear was changed",
      (tree) => {
        tree.note_unencrypted = "changed";
      },
    ],
    [
      "a value was moved to another field",
      ({ credentials: [one] }) => {
        one!.value.password = one!.value.host!;
      },
    ],
    [
      "a value was taken away",
      ({ credentials: [one] }) => {
        delete one!.value.host;
      },
    ],
    [
      "a value was replaced by text",
      ({ credentials: [one] }) => {
        one!.value.password = "mine";
      },
    ],
    [
      "a tag was cut short",
      ({ credentials: [one] }) => {
        one!.value.password = one!.value.password!.replace(
          /tag:[^,]+/,
          (tag) => `tag:${Buffer.from(tag.slice(4), "base64").subarray(0, 12).toString("base64")}`,
        );
      },
    ],
    [
      "the MAC is another value's",
      (tree) => {
        tree.sops.mac = tree.credentials[0]!.value.password!;
      },
    ],
    [
      "there is no MAC",
      (tree) => {
        tree.sops.mac = "";
      },
    ],
  ])("is refused when %s", async (_what, change) => {
    await expect(open(changed(change))).rejects.toMatchObject(damaged);
  });

  it("is refused when a field stands twice", async () => {
    await expect(open(sealed.replace('"name":', '"name": "x", "name":'))).rejects.toMatchObject(damaged);
  });

  it("is refused when its key has another length", async () => {
    const enc = Buffer.from(await ageEncrypt(Buffer.alloc(16), { recipients: [recipient], armored: true })).toString();
    await expect(
      open(
        changed((tree) => {
          tree.sops.age = [{ enc }];
        }),
      ),
    ).rejects.toMatchObject(damaged);
  });
});
