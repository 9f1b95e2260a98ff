// The long forms of tests/vault: a kill at every system call that could change something, more random streams, and the
// scan's noise over everything that is installed.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leakScanner, openSealed, peerIdentity, scrubber, sealBundle } from "../../src/vault/index.js";
import { hasStrace, killExport, killRotate } from "../vault/kill-rotate.js";
import { Desk } from "../vault/run.js";

describe.skipIf(!hasStrace)("SIGKILL at every mutating call of rotate (strace)", () => {
  it.each(["openat", "write", "pwrite64", "fsync", "rename", "unlink", "mkdir"])("%s", async (call) => {
    const desk = new Desk();
    await desk.run(["keygen"]);
    await desk.run(["add-credential", "--name", "db", "--type", "token", "--expires", "2099-01-01", "--value-stdin"], {
      stdin: "value-0",
    });
    let last = "value-0";
    let kills = 0;
    for (let when = 1; when <= 400; when += 1) {
      const fresh = `value-${when}`;
      const { killed, value, leftovers } = await killRotate(desk, call, when, fresh);
      expect([last, fresh], `${call} ${when}`).toContain(value);
      expect(leftovers, `${call} ${when}`).toEqual([]);
      last = value;
      if (!killed) break;
      kills += 1;
    }
    console.log(`${call}: ${kills} kills`);
    desk.remove();
  });
});

it("SIGKILL before every change of the disk leaves a rotation and its export, or neither", async () => {
  const desk = new Desk();
  const add = ["add-credential", "--name", "db", "--type", "token", "--expires", "2099-01-01", "--value-stdin"];
  for (const argv of [["keygen"], ["keygen", "--peer"], add]) await desk.run(argv, { stdin: "value-0" });
  let kills = 0;
  for (let nth = 1, going = true; going; nth += 1) {
    const { killed, leftovers } = await killExport(desk, nth, `value-${nth}`, desk.path(`${nth}.json`));
    expect(leftovers, `${nth}`).toEqual([]);
    going = killed;
    if (killed) kills += 1;
  }
  expect(kills).toBeGreaterThan(15);
  console.log(`rotate --export: ${kills} kills`);
  desk.remove();
});

describe("streams", () => {
  it("scrubs the same however 5,000 streams are cut", async () => {
    const secrets = [
      { name: "a", value: "aab-aab-aabb" },
      { name: "b", value: "aab-aab" },
      { name: "c", value: "ünï-cödé-sécret" },
    ];
    const clean = scrubber(secrets);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "aab-", "aab-aab-aabb", "aab-aab", "ünï-cödé-sécret", "ü", "-", "b"), {
          maxLength: 30,
        }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (parts, cuts) => {
          const bytes = Buffer.from(parts.join(""));
          const chunks: Buffer[] = [];
          for (let at = 0, i = 0; at < bytes.length; i += 1) {
            const step = cuts[i % cuts.length]!;
            chunks.push(bytes.subarray(at, at + step));
            at += step;
          }
          const out = await text(Readable.from(chunks).pipe(clean.stream()));
          expect(out).toBe(clean.text(bytes.toString()));
          for (const { value } of secrets) expect(out).not.toContain(value);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("opens what it sealed, 2,000 times", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ maxLength: 3_000 }),
        (seed, plain) => {
          const identity = peerIdentity(seed);
          expect(Buffer.compare(openSealed(sealBundle(plain, identity.publicKey), identity), plain)).toBe(0);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("leak scan", () => {
  it("finds at most one thing per 1,000 files in everything that is installed here", async () => {
    const root = fileURLToPath(new URL("../../node_modules", import.meta.url));
    const scanner = await leakScanner();
    let files = 0;
    for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      const path = join(root, name);
      if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) continue;
      files += 1;
      scanner.scan(name, readFileSync(path));
    }
    console.log(`${scanner.leaks().length} findings in ${files} files`);
    expect((scanner.leaks().length / files) * 1000).toBeLessThanOrEqual(1);
  });
});
