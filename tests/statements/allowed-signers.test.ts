// Whose key is whose, compared with what ssh-keygen says of the same file.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  keyStanding,
  matchesPattern,
  parseAllowedSigners,
  parseRevoked,
} from "../../src/statements/allowed-signers.js";
import { fingerprint, parseKeyLine, type Trust } from "../../src/statements/index.js";
import { armor } from "../../src/statements/sshsig.js";
import { temporaryFolder } from "../bundle/temp.js";
import { hasSshKeygen, ownKey } from "./keys.js";

const folder = temporaryFolder();
const key = ownKey();
const other = ownKey();
const NOW = new Date("2026-03-14T10:00:00Z");
const trustOf = (text: string, revoked = ""): Trust => ({
  ...parseAllowedSigners(text),
  revoked: parseRevoked(Buffer.from(revoked), (why) => new Error(why)),
});
const stands = (text: string, at = NOW, revoked = "") =>
  keyStanding(parseKeyLine(key.line)!, trustOf(text, revoked), "nutshell", at);

/** name, the line before the key, whether alice is trusted here and by ssh-keygen. */
const LINES: readonly (readonly [string, string, boolean, boolean])[] = [
  ["a plain line", "alice@example.org", true, true],
  ["several principals", "bob@example.org,alice@example.org", true, true],
  ["quoted principals", '"alice@example.org"', true, true],
  ["our namespace", 'alice@example.org namespaces="nutshell"', true, true],
  ["ours among others", 'alice@example.org namespaces="git,nut*"', true, true],
  ["every namespace but ours", 'alice@example.org namespaces="!nutshell,*"', false, false],
  ["ours, and one taken out", 'alice@example.org namespaces="nut*,!git"', true, true],
  ["only what is taken out", 'alice@example.org namespaces="!git"', false, false],
  ["an empty list of namespaces", 'alice@example.org namespaces=""', false, false],
  ["another namespace", 'alice@example.org namespaces="git"', false, false],
  ["not yet valid", 'alice@example.org valid-after="20260401Z"', false, false],
  ["valid by now", 'alice@example.org valid-after="20260301Z"', true, true],
  ["expired", 'alice@example.org valid-before="20260301Z"', false, false],
  ["expires later", 'alice@example.org valid-before="202604011200Z",namespaces="nutshell"', true, true],
  ["a time that is none", 'alice@example.org valid-before="20261340Z"', false, false],
  ["an option nobody knows", 'alice@example.org trusted="yes"', false, false],
  // Here we are stricter than OpenSSH.
  ["a wildcard principal", "*@example.org", false, true],
  ["a wildcard for everybody", "*", false, true],
  ["a certificate authority", "alice@example.org cert-authority", false, false],
  ["a principal taken out", "!alice@example.org,*", false, false],
  ["two namespaces options", 'alice@example.org namespaces="git",namespaces="nutshell"', false, false],
  ["a blank that is none", "alice@example.org\u00a0", false, false],
  ["a byte-order mark", "\ufeffalice@example.org", false, false],
  ["an option in capital letters", 'alice@example.org NAMESPACES="nutshell"', true, true],
  ["a time without its quotes", "alice@example.org valid-before=20260401Z", false, false],
  ["a homoglyph", "аlice@example.org", false, false],
];

describe("a line", () => {
  it.each(LINES)("with %s", (_name, head, trusted) => {
    expect(stands(`${head} ${key.line}\n`).trusted).toBe(trusted);
  });

  it.skipIf(!hasSshKeygen)("means to ssh-keygen what it means here, or more", async () => {
    const message = Buffer.from("hello");
    const [allowed, sig] = [join(folder, "allowed"), join(folder, "sig")];
    writeFileSync(sig, armor(await key.sign(message)));
    for (const [name, head, , theirs] of LINES) {
      writeFileSync(allowed, `${head} ${key.line}\n`);
      const args = ["-Y", "verify", "-n", "nutshell", "-I", "alice@example.org", "-f", allowed, "-s", sig];
      const time = ["-Overify-time=20260314100000Z"];
      expect(spawnSync("ssh-keygen", [...args, ...time], { input: message }).status === 0, name).toBe(theirs);
    }
  });

  it("ends as other systems end lines, too", () => {
    const text = `# list\r\nalice@example.org namespaces="nutshell" ${key.line} comment\r\n`;
    expect(stands(text).trusted).toBe(true);
    expect(stands(text, NOW, `${key.line}\r\n`)).toEqual({ trusted: false, why: "the key was revoked" });
    expect(stands(`bob@example.org\ralice@example.org ${key.line}\n`).trusted).toBe(false);
  });

  it("that is not understood trusts nobody, and is told", () => {
    const { lines, skipped } = parseAllowedSigners(
      `# comment\n\n*@example.org ${key.line}\nalice@example.org ssh-dss AAAA\nbob@example.org ${other.line}\n`,
    );
    expect(lines.map(({ principals, line }) => [principals, line])).toEqual([[["bob@example.org"], 5]]);
    expect(skipped).toEqual([
      { line: 3, why: '"*@example.org" has a wildcard, so it names nobody' },
      { line: 4, why: "the key is not of a kind we know" },
    ]);
  });
});

describe("the time that counts", () => {
  const line = `alice@example.org valid-after="20260101Z",valid-before="20270101Z" ${key.line}\n`;
  it("is the verifier's, at both ends", () => {
    expect(stands(line, new Date("2025-12-31T23:59:59Z"))).toEqual({
      trusted: false,
      why: "the key is valid only after 2026-01-01T00:00:00.000Z",
    });
    expect(stands(line, new Date("2026-01-01T00:00:00Z")).trusted).toBe(true);
    expect(stands(line, new Date("2026-12-31T23:59:59Z")).trusted).toBe(true);
    expect(stands(line, new Date("2027-01-01T00:00:00Z"))).toEqual({
      trusted: false,
      why: "the key was valid only before 2027-01-01T00:00:00.000Z",
    });
  });
});

describe("a revoked key", () => {
  it("is nobody's, whatever the list says of it", () => {
    expect(stands(`alice@example.org ${key.line}\n`, NOW, `# stolen\n${key.line}\n`)).toEqual({
      trusted: false,
      why: "the key was revoked",
    });
    expect(stands(`alice@example.org ${key.line}\n`, NOW, `${other.line}\n`).trusted).toBe(true);
  });

  it("is not overlooked in a file that cannot be read", () => {
    expect(() => stands("", NOW, "SSHKRL\n\0....")).toThrow("binary KRL");
    expect(() => stands("", NOW, fingerprint(parseKeyLine(key.line)!))).toThrow("line 1 is not a public key");
  });
});

describe("patterns", () => {
  it("match as a regular expression of the same meaning does", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
    const plain = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 });
    fc.assert(
      fc.property(letters, plain, (pattern, text) => {
        const expression = pattern.replaceAll("?", ".").replaceAll("*", ".*");
        return matchesPattern(text, pattern) === new RegExp(`^${expression}$`).test(text);
      }),
    );
  });

  it("made to keep a reader busy do not", () => {
    expect(matchesPattern("a".repeat(5_000), `${"*a".repeat(2_000)}b`)).toBe(false);
  });
});
