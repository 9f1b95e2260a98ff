// From an empty folder to "verified: completed" and paid, over the market and sealed for one peer, with a wrong turn at
// every step. No file is edited by hand.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runNutshell } from "../cli/run-nutshell.js";
import { nexus } from "../state/nexus.js";
import { type Double, leave, type Person, person, startDouble, writeRequest } from "./double.js";

let double: Double;
let author: Person;
let worker: Person;

beforeEach(async () => {
  double = await startDouble();
  author = person(double.nodes[0]!);
  worker = person(double.nodes[1]!);
});
afterEach(async () => {
  await double.stop();
  leave(author, worker);
});

/** An agent that does the work where it may, and says so. */
const agent = (text: string) =>
  `sh -c 'mkdir -p files 2>/dev/null && echo ${text} > files/hello.txt 2>/dev/null; echo "VERDICT: pass"; echo "- [passed] 1: files/hello.txt says so"'`;

async function runTask(source: string, output: string, says = "hello", flags: readonly string[] = []) {
  const argv = ["run", source, "--driver", "command", "--command", agent(says), "--plan", "default", "--yes"];
  return nexus(worker.home, [...argv, "--trials", "1", "-o", output, ...flags], {
    env: { HOME: worker.home, PATH: process.env.PATH! },
  });
}

const task = () => {
  const dir = writeRequest(author, "task", {
    acceptance: { criteria_file: "tests/criteria.json" },
    harness: { constraints: ["Do not modify files outside files/"] },
  });
  mkdirSync(join(dir, "files"), { recursive: true });
  writeFileSync(join(dir, "files/hello.txt"), "nothing\n");
  return dir;
};

/** A no, and a hint with the command that gets back. */
async function leadsOn(who: Person, argv: readonly string[], way: string): Promise<void> {
  const { code, err } = await who.run(...argv);
  expect([1, 2], `${argv.join(" ")}\n${err}`).toContain(code);
  expect(err).toMatch(/hint: /);
  expect(err.slice(err.indexOf("hint: "))).toContain(way);
}

/** What a line printed for them does, as it stands. */
const paste = (who: Person, line: string) =>
  runNutshell(line.split(" ").slice(1), { cwd: who.home, env: { HOME: who.home, PATH: process.env.PATH! } });

const codeOf = ({ err }: { err: string }) => JSON.parse(err.slice(err.indexOf('{"error"'))).error;

describe("the way home over the market", () => {
  it("is claim, run, deliver, receive: nothing is edited, and only proof is paid for", async () => {
    const request = task();
    const unasked = await author.run("publish", "--dir", request, "--reward", "700", "--simple");
    expect(unasked.err).toContain("nobody can answer here");
    expect(unasked.err).toMatch(/nutshell publish --dir \S+ --reward 700 --simple --clawnet \S+ --yes/);
    // What was never offered was never packed for anybody.
    expect(existsSync(join(author.home, ".local/state/nutshell/consent.jsonl"))).toBe(false);
    const published = await author.json("publish", "--dir", request, "--yes");
    const id = published.task_id as string;
    expect(await paste(author, `${published.next}`)).toMatchObject({
      code: 0,
      out: expect.stringContaining("no bids"),
    });

    const workspace = join(worker.home, "workspace");
    const claimed = await worker.json("claim", id, "-o", workspace);
    const kept = `${workspace}.request.nut`;
    expect(claimed).toMatchObject({ kept, next: expect.stringContaining(`nexus run ${kept}`) });
    expect((await worker.run("claim", id, "-o", workspace)).err).toContain("already exists");
    const steps = /^(nutshell bid .+), and when it is yours: nexus run \S+ -o done.nut, then: (nutshell deliver .+)$/;
    const [, bid, deliver] = steps.exec(`${claimed.next}`)!;

    // A request that was edited is another request.
    const edited = join(worker.home, "edited");
    await worker.json("claim", id, "-o", edited);
    writeFileSync(join(edited, "context/requirements.md"), "Say goodbye.\n");
    await runTask(edited, "edited.nut", "hello", ["--quick"]);
    const other = await worker.run("deliver", "edited.nut", "--yes", "--json");
    expect(codeOf(other)).toMatchObject({
      code: "MARKET_NOT_READY",
      message: expect.stringContaining("another version"),
    });

    expect((await runTask(kept, "done.nut")).code).toBe(0);
    expect(codeOf(await worker.run("deliver", kept, "--yes", "--json")).message).toContain("is a request");
    expect(codeOf(await worker.run("deliver", "none.nut", "--yes", "--json")).code).toBe("FILE_NOT_FOUND");
    expect((await worker.run("deliver", "done.nut", "--yes")).err).toContain(`nutshell bid ${id}`);
    const peer = double.nodes[1]!.peerId;
    await leadsOn(author, ["assign", id, peer], `nutshell bids ${id}`);
    await leadsOn(worker, ["bid", "00000000-0000-4000-8000-000000000000"], "nutshell tasks");
    await leadsOn(author, ["bid", id], "nutshell tasks");
    await leadsOn(author, ["receive", id, "--file", join(worker.home, "done.nut"), "--approve", "--yes"], "nutshell");
    expect(await paste(worker, bid!)).toMatchObject({ code: 0 });
    await leadsOn(worker, ["assign", id, peer], "nutshell");
    await author.json("assign", id, peer);
    const done = join(worker.home, "done.nut");
    const before = readFileSync(done);
    const delivered = await paste(worker, `${deliver} --yes --json`);
    expect(JSON.parse(delivered.out)).toMatchObject({ route: "deliver", file: "done.nut" });
    expect(await worker.json("deliver", "done.nut", "--yes")).toMatchObject({ route: "done" });
    expect(readFileSync(done).equals(before)).toBe(true);

    expect(codeOf(await author.run("receive", id, "--file", kept, "--approve", "--yes", "--json")).code).toBe(
      "MARKET_HASH_MISMATCH",
    );
    // Without a look of one's own nothing is paid, and the answer says why.
    const looked = await author.json("receive", id, "--file", done);
    expect(looked).toMatchObject({
      verified: false,
      settled: null,
      why: expect.arrayContaining(["its acceptance was not run here"]),
    });
    const paid = await paste(author, `${`${looked.next}`.split("   or: ")[0]} --yes --json`);
    expect(JSON.parse(paid.out)).toMatchObject({
      verified: true,
      settled: "approved",
      paid: 500,
      waived: null,
    });
    expect(await double.account(1)).toMatchObject({ balance: 4700 });
  });

  it("pays for unproven work only with a reason that is kept", async () => {
    const request = task();
    const { task_id: id } = (await author.json("publish", "--dir", request, "--yes")) as { task_id: string };
    await worker.json("claim", id, "-o", "w");
    await runTask(join(worker.home, "w.request.nut"), "bad.nut", "goodbye", ["--quick"]);
    await worker.json("bid", id);
    await author.json("assign", id, double.nodes[1]!.peerId);
    await worker.json("deliver", "bad.nut", "--yes");
    const bad = join(worker.home, "bad.nut");
    const refused = codeOf(await author.run("receive", id, "--file", bad, "--approve", "--yes", "--json"));
    expect(refused).toMatchObject({ code: "MARKET_UNPROVEN", message: expect.stringContaining("AC-1") });
    expect(await double.account(1)).toMatchObject({ balance: 4200 });
    for (const flags of [
      ["--waive", " "],
      ["--reject", "--waive", "x"],
    ]) {
      expect((await author.run("receive", id, "--file", bad, "--approve", ...flags, "--yes")).code).toBe(2);
    }
    // A question that nobody answers leaves nothing on record, and its hint is the command that was typed.
    const waive = ["receive", id, "--file", bad, "--approve", "--waive", "good enough"];
    expect(codeOf(await author.run(...waive, "--json"))).toMatchObject({
      code: "NO_TERMINAL",
      hint: expect.stringContaining(`${id} --file ${bad} --approve --waive 'good enough' --clawnet`),
    });
    expect((await author.run("approve", id)).code).toBe(2);
    const records = () => readFileSync(join(author.home, ".local/state/nutshell/market.jsonl"), "utf8");
    expect(records()).not.toContain("waived");
    const paid = await author.json(...waive, "--yes");
    expect(paid).toMatchObject({ verified: false, settled: "approved", waived: "good enough" });
    expect(records()).toContain('"reason":"good enough"');
  });
});

describe("the way home sealed for one peer", () => {
  it("opens for the two it concerns, by their own keys, at every step", async () => {
    const request = task();
    // Something of that name is there already, and stays.
    writeFileSync(`${request}.request.nut`, "mine");
    const peer = double.nodes[1]!;
    const published = await author.json("publish", "--dir", request, "--peer", peer.publicKey, "--yes");
    const id = published.task_id as string;
    const copy = published.kept as string;
    expect(copy).toBe(`${request}.request-2.nut`);
    expect(readFileSync(`${request}.request.nut`, "utf8")).toBe("mine");

    const key = join(worker.home, ".openclaw/clawnet/identity.key");
    await leadsOn(author, ["claim", id, "-o", "w"], "nutshell tasks board --clawnet");
    const claimed = await worker.json("claim", id, "-o", "w", "--identity", key);
    const kept = join(worker.home, "w.request.nut");
    expect(claimed.next).toContain(`nexus run ${kept} --identity ${key} -o done.nut`);
    await leadsOn(
      worker,
      ["claim", id, "-o", "w", "-i", key],
      `nutshell claim ${id} -o '<other dir>' --identity ${key}`,
    );
    // Nobody else opens it.
    const stranger = await nexus(author.home, ["run", kept, "--driver", "command", "--command", "true", "--json"], {
      env: { HOME: author.home, PATH: process.env.PATH! },
    });
    expect(stranger.err).toContain("BUNDLE_SEALED");
    expect((await runTask(kept, "done.nut")).code).toBe(0);
    await worker.json("bid", id);
    await author.json("assign", id, peer.peerId);
    const delivered = await worker.json("deliver", "done.nut", "--yes");
    expect(delivered).toMatchObject({ sealed: true, file: join(worker.home, "done.sealed.nut") });
    const sealed = delivered.file as string;
    expect(existsSync(sealed)).toBe(true);
    expect(await worker.json("deliver", "done.nut", "--yes")).toMatchObject({ route: "done", hash: delivered.hash });
    expect(await author.json("receive", id, "--file", sealed, "--approve", "--yes")).toMatchObject({
      verified: true,
      settled: "approved",
    });
  });
});
