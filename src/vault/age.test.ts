import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  ageDecrypt,
  ageEncrypt,
  checkRecipient,
  generateAgeIdentity,
  readAgeIdentityFile,
  writeAgeIdentityFile,
} from "./age.js";

const folder = mkdtempSync(join(tmpdir(), "nut-age-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const plain = Buffer.from("the content");
const hasAge = spawnSync("age", ["--version"]).status === 0;

describe("age", () => {
  it("opens what it encrypted for several recipients, binary and armored, and with a passphrase", async () => {
    const [a, b] = [await generateAgeIdentity(), await generateAgeIdentity()];
    for (const armored of [false, true]) {
      const file = await ageEncrypt(plain, { recipients: [a.recipient, b.recipient], armored });
      for (const { identity } of [a, b])
        expect(Buffer.from(await ageDecrypt(file, { identities: [identity] }))).toEqual(plain);
    }
    const file = await ageEncrypt(plain, { passphrase: "correct horse", logN: 10 });
    expect(Buffer.from(await ageDecrypt(file, { identities: [], passphrase: async () => "correct horse" }))).toEqual(
      plain,
    );
  });

  it("says no key fits for a stranger's key or a wrong passphrase, and asks for one when nobody can be asked", async () => {
    const [a, b] = [await generateAgeIdentity(), await generateAgeIdentity()];
    const file = await ageEncrypt(plain, { recipients: [a.recipient] });
    const noKey = { code: "VAULT_NO_MATCHING_KEY" };
    await expect(ageDecrypt(file, { identities: [b.identity] })).rejects.toMatchObject(noKey);
    await expect(ageDecrypt(file, { identities: [] })).rejects.toMatchObject(noKey);
    const locked = await ageEncrypt(plain, { passphrase: "correct horse", logN: 10 });
    await expect(ageDecrypt(locked, { identities: [], passphrase: async () => "wrong" })).rejects.toMatchObject(noKey);
    await expect(ageDecrypt(locked, { identities: [], passphrase: async () => null })).rejects.toMatchObject({
      code: "NO_TERMINAL",
    });
  });

  it("refuses a costly passphrase and thousands of stanzas before doing the work", async () => {
    const salt = "A".repeat(22);
    const costly = Buffer.from(`age-encryption.org/v1\n-> scrypt ${salt} 19\n${"A".repeat(43)}\n--- x\n`);
    const crowd = Buffer.from(
      `age-encryption.org/v1\n${`-> X25519 ${"A".repeat(43)}\n${"A".repeat(43)}\n`.repeat(10_000)}--- x\n`,
    );
    const { identity } = await generateAgeIdentity();
    for (const file of [costly, crowd]) {
      const started = Date.now();
      await expect(ageDecrypt(file, { identities: [identity], passphrase: async () => "x" })).rejects.toMatchObject({
        code: "VAULT_COSTLY",
      });
      expect(Date.now() - started).toBeLessThan(2_000);
    }
  });

  it("refuses every truncation and every flipped byte", async () => {
    const { identity, recipient } = await generateAgeIdentity();
    const file = await ageEncrypt(plain, { recipients: [recipient] });
    for (let at = 0; at < file.length; at += 7) {
      const changed = Uint8Array.from(file);
      changed[at]! ^= 0x80;
      await expect(ageDecrypt(changed, { identities: [identity] }), `byte ${at}`).rejects.toThrow();
      await expect(ageDecrypt(file.subarray(0, at), { identities: [identity] }), `cut ${at}`).rejects.toThrow();
    }
  });

  it("never repeats a secret key given as a recipient", async () => {
    const { identity } = await generateAgeIdentity();
    try {
      await checkRecipient(identity);
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toContain(identity);
    }
  });

  it("keeps identity files to their owner and never overwrites one", async () => {
    const path = join(folder, "deep", "id.txt");
    const made = await generateAgeIdentity();
    writeAgeIdentityFile(path, made, new Date(0));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readAgeIdentityFile(path)).toEqual([made.identity]);
    expect(() => writeAgeIdentityFile(path, made, new Date(0))).toThrow(
      expect.objectContaining({ code: "FILE_EXISTS" }),
    );
  });

  it.skipIf(!hasAge)("works both ways with the age program", async () => {
    const path = join(folder, "theirs.txt");
    execFileSync("age-keygen", ["-o", path], { stdio: "ignore" });
    const [identity] = readAgeIdentityFile(path);
    const recipient = execFileSync("age-keygen", ["-y", path], { encoding: "utf8" }).trim();
    for (const armored of [false, true]) {
      const theirs = execFileSync("age", [...(armored ? ["-a"] : []), "-r", recipient], { input: plain });
      expect(Buffer.from(await ageDecrypt(theirs, { identities: [identity!] }))).toEqual(plain);
      const file = join(folder, `ours-${armored}.age`);
      writeFileSync(file, await ageEncrypt(plain, { recipients: [recipient], armored }));
      expect(execFileSync("age", ["-d", "-i", path, file])).toEqual(plain);
    }
    const ours = join(folder, "ours.txt");
    writeAgeIdentityFile(ours, await generateAgeIdentity(), new Date(0));
    expect(execFileSync("age-keygen", ["-y", ours], { encoding: "utf8" }).trim()).toBe(
      /public key: (\S+)/.exec(readFileSync(ours, "utf8"))![1],
    );
  });
});
