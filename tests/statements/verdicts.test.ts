// What whoever verifies asks of signatures, and the verdicts they add, through the command line.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBundle, packFolder, readAttached, writeAttached } from "../../src/bundle/index.js";
import { main } from "../../src/cli/main.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { formatEnvelopes, signStatement, verdictStatement } from "../../src/statements/index.js";
import { put } from "../acceptance/room.js";
import { Desk, NOW } from "../vault/run.js";
import { ownKey } from "./keys.js";

let desk: Desk;
let made: Buffer;
const PEOPLE = ["alice", "bob", "carol", "dave"];
const task = () => desk.path("task.nut");
const done = () => desk.path("done.nut");
const key = (name: string) => desk.path(`${name}.key`);
const settings = (name: string) => join(desk.home, ".config/nutshell", name);

beforeAll(async () => {
  desk = new Desk();
  const folder = desk.folder(desk.path("request"), {
    context: { requirements: "context/requirements.md" },
    acceptance: { criteria_file: "tests/criteria.json" },
  });
  put(folder, {
    "context/requirements.md": "say hello\n",
    "tests/criteria.json": JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", script: "tests/greets.sh" }] }),
    "tests/greets.sh": "grep -q hello files/greeting.txt\n",
    "files/greeting.txt": "nothing\n",
  });
  await packFolder(folder, { output: task() });
  for (const name of PEOPLE) await desk.run(["keygen", "--peer", "-o", key(name)]);
  await desk.run(["sign", task(), "--key", key("alice")]);
  await desk.run(["unpack", task(), "-o", desk.path("work")]);
  writeFileSync(desk.path("work/files/greeting.txt"), "hello\n");
  const { code, err } = await desk.run(["finish", desk.path("work"), "-r", task(), "-o", done(), "--yes"]);
  expect(code, err).toBe(0);
  await desk.run(["sign", done(), "--key", key("bob")]);
  made = readFileSync(done());
});
afterAll(() => desk.remove());

beforeEach(async () => {
  writeFileSync(done(), made);
  rmSync(settings("."), { recursive: true, force: true });
  rmSync(join(desk.dir, ".nexus"), { recursive: true, force: true });
  for (const name of PEOPLE) await trust(name);
});

const trust = (name: string, ...more: string[]) => {
  const publicKey = readFileSync(key(name)).subarray(32).toString("hex");
  return desk.run(["trust", "add", `${name}@example.org`, "--key", publicKey, ...more]);
};
const policy = (text: string, path = desk.path("policy.yml")) => {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, `version: 1\n${text}`);
  return path;
};
const verify = async (...argv: string[]) => {
  const { code, out, err } = await desk.run(["verify", done(), "-r", task(), ...argv, "--json"]);
  return { code, err, answer: out === "" ? null : JSON.parse(out) };
};
const digestOf = async (path: string) => {
  const bundle = await openBundle(path);
  return bundle.contentDigest().finally(() => bundle.close());
};
const codes = (answer: { findings: { code: string }[] }) => answer.findings.map(({ code }) => code);
const rerun = (name: string) => verify("--rerun", "--yes", "--sign", "--key", key(name));

describe("verify --rerun --sign", () => {
  it("adds what came out to the delivery, which stays the same content, and anybody sees it", async () => {
    const before = readAttached(done()).archiveBytes;
    const { code, answer } = await rerun("carol");
    expect({ code, verified: answer.verified, verdict: answer.verdict }).toEqual({
      code: 0,
      verified: true,
      verdict: done(),
    });
    expect(readAttached(done()).archiveBytes).toBe(before);
    const { answer: again } = await verify("--allow", "recorded");
    expect(again.signatures).toMatchObject([
      { standing: "trusted", says: "delivery", principals: ["bob@example.org"] },
      {
        standing: "trusted",
        says: "verdict",
        principals: ["carol@example.org"],
        result: "PASSED",
        signed_on: NOW.toISOString(),
      },
    ]);
  });

  it("signs a no as well", async () => {
    const bad = desk.path("bad");
    await desk.run(["unpack", done(), "-o", bad]);
    const greeting = readdirSync(bad, { recursive: true, encoding: "utf8" }).find((name) =>
      name.endsWith("greeting.txt"),
    )!;
    writeFileSync(join(bad, greeting), "goodbye\n");
    await packFolder(bad, { output: done() });
    const { code, answer } = await rerun("carol");
    expect(code).toBe(1);
    expect(answer.verdict).toBe(done());
    const { answer: again } = await verify();
    expect(again.signatures).toMatchObject([{ says: "verdict", result: "FAILED" }]);
  });

  it("needs a rerun and a key that signs, before anything is run", async () => {
    expect((await verify("--sign", "--key", key("carol"))).err).toContain("needs --rerun");
    const locked = await verify("--rerun", "--sign", "--key", desk.path("nobody.key"));
    expect(locked).toMatchObject({ code: 2, answer: null });
    expect(readFileSync(done()).equals(made)).toBe(true);
  });
});

describe("verify of a request", () => {
  const ask = async (...argv: string[]) => {
    const { code, out, err } = await desk.run(["verify", task(), ...argv, "--json"]);
    return { code, err, answer: out === "" ? null : JSON.parse(out) };
  };

  it("says who asks for it, and yes when it is somebody trusted and whoever is required", async () => {
    const own = await ask();
    expect(own.code).toBe(0);
    expect(own.answer).toMatchObject({
      verified: true,
      kind: "request",
      status: null,
      signatures: [{ standing: "trusted", says: "request", principals: ["alice@example.org"] }],
    });
    expect((await desk.run(["verify", task()])).out).toContain("verified: alice@example.org asked for this request");
    expect((await ask("--require", "signer=alice@example.org")).code).toBe(0);
    const other = await ask("--require", "signer=bob@example.org");
    expect(other).toMatchObject({ code: 1, answer: { verified: false } });
    expect(codes(other.answer)).toEqual(["SIGNER_REQUIRED"]);
    const refused = await ask("--policy", policy("requests:\n  signers: [bob@example.org]\n"));
    expect(refused.code).toBe(1);
    expect(codes(refused.answer)).toEqual(["POLICY_REFUSED"]);
    await desk.run(["trust", "remove", "alice@example.org"]);
    expect((await desk.run(["verify", task()])).out).toContain("not verified: nobody you trust asks for this request");
    expect((await ask()).code).toBe(1);
  });

  it("that was changed, or whose signature was taken off, says no", async () => {
    const before = readFileSync(task());
    try {
      writeAttached(task(), Buffer.alloc(0));
      const bare = await ask("--require", "signer=alice@example.org");
      expect(bare).toMatchObject({ code: 1, answer: { signatures: [] } });
      const bytes = readFileSync(task());
      bytes[bytes.length - 20]! ^= 0xff;
      writeFileSync(task(), bytes);
      expect(await ask()).toMatchObject({ code: 1, answer: { verified: false, kind: null } });
    } finally {
      writeFileSync(task(), before);
    }
  });

  it("is no answer to whoever wants a delivery", async () => {
    for (const more of [
      ["-r", task()],
      ["-r", task(), "--rerun", "--yes"],
      ["--allow", "recorded"],
    ]) {
      expect((await ask(...more)).err, more.join(" ")).toContain("is a request, not a delivery");
    }
  });
});

describe("verify --require", () => {
  it("says no unless that person, trusted now, signed it", async () => {
    const believe = ["--allow", "recorded"];
    expect((await verify(...believe, "--require", "signer=bob@example.org")).code).toBe(0);
    expect((await verify(...believe, "--require", "signer=*@example.org")).code).toBe(0);
    const other = await verify(
      ...believe,
      "--require",
      "signer=bob@example.org",
      "--require",
      "signer=carol@example.org",
    );
    expect(other.code).toBe(1);
    expect(codes(other.answer)).toContain("SIGNER_REQUIRED");
    await desk.run(["trust", "remove", "bob@example.org"]);
    expect((await verify(...believe, "--require", "signer=bob@example.org")).code).toBe(1);
    for (const typed of ["bob@example.org", "signer=", "key=x"]) {
      expect((await verify("--require", typed)).code, typed).toBe(2);
    }
  });

  it("is not met by somebody who checked it and says no, whose no is heard unless it was proven here", async () => {
    const work = desk.path("lies");
    await desk.run(["unpack", done(), "-o", work]);
    const result = join(work, "delivery/artifacts/files/greeting.txt");
    writeFileSync(result, "nothing\n");
    const lie = desk.path("lie.nut");
    await packFolder(work, { output: lie });
    await desk.run(["sign", lie, "--key", key("dave")]);
    const said = await desk.run([
      ...["verify", lie, "-r", task(), "--rerun", "--yes", "--sign", "--key", key("bob"), "--json"],
    ]);
    expect(JSON.parse(said.out).verified).toBe(false);
    const { out, code } = await desk.run(["verify", lie, "--require", "signer=bob@example.org", "--json"]);
    expect(code).toBe(1);
    expect(codes(JSON.parse(out))).toEqual(expect.arrayContaining(["SIGNER_REQUIRED", "VERDICT_FAILED"]));
    const text = await desk.run(["verify", lie]);
    expect(text.out).toContain("✗ bob@example.org checked this: failed");
    // The same no on honest work, by somebody who is wrong: one's own rerun counts for more, the record alone does not.
    const statement = verdictStatement({
      bundle: { id: JSON.parse(out).id, digest: await digestOf(done()) },
      request: { id: JSON.parse(out).request_id, digest: await digestOf(task()) },
      at: NOW,
      platform: "linux-x64",
      result: "FAILED",
      passed: [],
      failed: ["AC-1"],
      acceptance: { passed: 0, failed: 1 },
      hidden: null,
      digests: { result: `sha256:${"0".repeat(64)}`, tests: `sha256:${"0".repeat(64)}` },
    });
    const erin = ownKey();
    await desk.run(["trust", "add", "erin@example.org", "--key", erin.line]);
    const wrong = await signStatement(statement, erin.sign);
    const attached = readAttached(done()).bytes.toString();
    writeAttached(done(), Buffer.from(attached + formatEnvelopes([wrong])));
    expect((await verify("--allow", "recorded")).code).toBe(1);
    const proven = await verify("--rerun", "--yes");
    expect(proven.code).toBe(0);
    expect(codes(proven.answer)).toContain("VERDICT_FAILED");
  });

  it("takes a key for valid at the time --at names, and at no other", async () => {
    await desk.run(["trust", "remove", "bob@example.org"]);
    await trust("bob", "--valid-after", "2026-01-01", "--valid-before", "2026-02-01");
    const asks = (...more: string[]) => verify("--allow", "recorded", "--require", "signer=bob@example.org", ...more);
    expect((await asks()).code).toBe(1);
    expect((await asks("--at", "2026-01-15")).code).toBe(0);
    expect((await asks("--at", "2026-02-01T00:00:00Z")).code).toBe(1);
    expect((await asks("--at", "2025-12-31T23:59:59Z")).code).toBe(1);
    expect((await asks("--at", "yesterday")).code).toBe(2);
  });
});

describe("a policy", () => {
  const two = "verdicts:\n  count: 2\n";

  it("wants so many independent verdicts, and then believes them without a rerun", async () => {
    const named = () => verify("--policy", policy(two));
    expect((await named()).code).toBe(1);
    await rerun("carol");
    // The maker's own verdict, and the same person twice, are no second.
    await rerun("bob");
    await rerun("carol");
    const one = await named();
    expect(one.code).toBe(1);
    expect(JSON.stringify(one.answer.findings)).toContain(
      "2 independent verdicts that it passed are needed, and there are 1",
    );
    await rerun("dave");
    const both = await named();
    expect(both).toMatchObject({ code: 0, answer: { believed: "carol@example.org, dave@example.org" } });
    expect((await verify()).code).toBe(1);
    // Stripped, it is nobody's word again.
    writeAttached(done(), Buffer.alloc(0));
    expect((await named()).code).toBe(1);
  });

  it("of the project only demands: whose word is enough is said by your own, or the one you name", async () => {
    const believe = "deliveries:\n  believe: [bob@example.org]\n";
    policy(believe, join(desk.dir, ".nexus/policy.yml"));
    expect((await verify()).code).toBe(1);
    policy(believe, settings("policy.yml"));
    expect(await verify()).toMatchObject({ code: 0, answer: { believed: "bob@example.org" } });
    policy("deliveries:\n  signers: [carol@example.org]\n", join(desk.dir, ".nexus/policy.yml"));
    const refused = await verify();
    expect(refused.code).toBe(1);
    expect(codes(refused.answer)).toContain("POLICY_REFUSED");
  });

  it("says whose requests are run at all, here and by nexus run, whoever says yes", async () => {
    policy("requests:\n  signers: [carol@example.org]\n", settings("policy.yml"));
    const { code, err } = await verify("--rerun", "--yes");
    expect(code).toBe(2);
    expect(err).toContain("POLICY_REFUSED");
    const output = desk.path("never.nut");
    const text = { out: "", err: "" };
    const sink = (name: "out" | "err") =>
      new Writable({
        write(chunk, _encoding, next) {
          text[name] += chunk;
          next();
        },
      });
    const status = await main(
      nexus,
      ["run", task(), "--driver", "command", "--command", "true", "-o", output, "--yes", "--json"],
      {
        cwd: desk.dir,
        env: desk.env,
        now: () => NOW,
        signal: new AbortController().signal,
        stdin: () => Readable.from([]),
        stdout: sink("out"),
        stderr: sink("err"),
        ask: null,
      },
    );
    expect(status).toBe(2);
    expect(text.err).toContain("only requests signed by carol@example.org may be run here");
  });

  it("that cannot be read stops verify, instead of asking for less", async () => {
    for (const text of ["verdict:\n  count: 2\n", "verdicts:\n  count: 0\n", "deliveries: [x\n"]) {
      const { code, err } = await verify("--allow", "recorded", "--policy", policy(text));
      expect(code, text).toBe(2);
      expect(err).toContain("POLICY_INVALID");
    }
    expect((await verify("--policy", desk.path("absent.yml"))).code).toBe(2);
  });
});

it("a verdict on a copy of the same content counts beside it, and on nothing else", async () => {
  await rerun("carol");
  const copy = desk.path("copy.nut");
  copyFileSync(done(), copy);
  const { out } = await desk.run(["log", copy, task(), "--json"]);
  expect(JSON.parse(out).tasks[0].deliveries[0]).toMatchObject({ independent: ["carol@example.org"], broken: [] });
});
