import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBundle } from "../../src/bundle/index.js";
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

const manifestOf = (dir: string) => JSON.parse(readFileSync(join(dir, "nutshell.json"), "utf8"));

/** What a worker does by hand: the file, and an honest result. */
function work(dir: string): void {
  mkdirSync(join(dir, "files"), { recursive: true });
  mkdirSync(join(dir, "delivery/artifacts/files"), { recursive: true });
  writeFileSync(join(dir, "files/hello.txt"), "hello\n");
  writeFileSync(join(dir, "delivery/artifacts/files/hello.txt"), "hello\n");
  const { id } = manifestOf(dir);
  const result = {
    request_id: id,
    status: "completed",
    completion_percentage: 100,
    summary: "the file says hello",
    deliverer: { name: "a person" },
    artifacts: { files_created: [{ path: "delivery/artifacts/files/hello.txt", lines: 1 }] },
    acceptance_results: {
      checklist: [{ item: "the file says hello", status: "passed", evidence: "judged", note: "I read it" }],
    },
  };
  writeFileSync(join(dir, "delivery/result.json"), JSON.stringify(result, null, 2));
}

describe("a task on the market", () => {
  it("goes from publication to payment with review", async () => {
    const request = writeRequest(author);
    const published = await author.json("publish", "--dir", request, "--yes");
    const id = published.task_id as string;
    expect(published).toMatchObject({ reward: 500, fee: 25, mode: "auction", repeated: false });
    expect(await double.account(0)).toMatchObject({ balance: 4200 - 525, frozen: 500 });
    expect(manifestOf(request).extensions).toMatchObject({
      linear: { issue_id: "ENG-1" },
      clawnet: { note: "keep me", task_id: id, reward: { amount: 500, currency: "shells", source: "budget" } },
    });
    const created = (await double.log()).find(({ method, path }) => method === "POST" && path === "/api/tasks")!;
    expect(JSON.parse(created.body!)).toMatchObject({ tags: ["shell", "text"], mode: "auction", reward: 500 });

    const workspace = join(worker.home, "workspace");
    expect(await worker.json("claim", id, "-o", workspace)).toMatchObject({ verified: "published", sealed: false });
    // The folder is the request as published: nothing is noted in it.
    expect(manifestOf(workspace).extensions.clawnet).not.toHaveProperty("task_id");
    expect(existsSync(`${workspace}.request.nut`)).toBe(true);
    work(workspace);

    const early = await worker.run("deliver", "--dir", workspace, "--yes");
    expect(early).toMatchObject({ code: 2, err: expect.stringContaining(`nutshell bid ${id}`) });
    expect(manifestOf(workspace).bundle_type).toBe("request");

    await worker.json("bid", id, "-m", "me");
    expect(await worker.json("bid", id)).toMatchObject({ repeated: true });
    await author.json("assign", id, double.nodes[1]!.peerId);
    const delivered = await worker.json("deliver", "--dir", workspace, "--yes");
    expect(delivered).toMatchObject({ route: "deliver", task_id: id });
    expect(manifestOf(workspace)).toMatchObject({
      bundle_type: "delivery",
      request_id: "nut-story-task",
      parent_id: "nut-story-task",
    });
    expect(await worker.json("deliver", "--dir", workspace, "--yes")).toMatchObject({ route: "done" });

    const wrong = await author.run("receive", id, "--file", `${request}.request.nut`, "--approve", "--yes");
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("not the delivery that was submitted") });
    const file = delivered.file as string;
    const policy = join(author.home, ".config/nutshell/policy.yml");
    mkdirSync(dirname(policy), { recursive: true });
    writeFileSync(policy, "version: 1\ndeliveries:\n  signers: [bob@example.org]\n");
    const unsigned = await author.run("receive", id, "--file", file, "--json");
    expect(unsigned.code).toBe(1);
    expect(JSON.parse(unsigned.out)).toMatchObject({
      verified: false,
      settled: null,
      why: expect.arrayContaining(["it must be signed by bob@example.org"]),
    });
    expect(await author.asked("receive", id, "--file", file)).toEqual([
      "run the acceptance here before anything is decided?",
      expect.stringMatching(
        /^(?:.+\n)*it must be signed by bob@example\.org\n(?:.+\n)*it is not proven; .* pay 500 shells/,
      ),
      "reject it? the worker gets no second try",
    ]);
    rmSync(policy);
    const received = await author.json(
      "receive",
      id,
      "--file",
      file,
      "--request",
      `${request}.request.nut`,
      "--rerun",
      "--approve",
      "--yes",
    );
    expect(received).toMatchObject({ verified: true, settled: "approved", paid: 500 });
    expect(await double.account(0)).toMatchObject({ balance: 3675, frozen: 0 });
    expect(await double.account(1)).toMatchObject({ balance: 4700, frozen: 0 });
    expect(await author.json("approve", id, "--yes")).toMatchObject({ status: "approved" });
    expect(await double.account(1)).toMatchObject({ balance: 4700 });
  });

  it("travels sealed for one peer, both ways", async () => {
    const request = writeRequest(author);
    const target = double.nodes[1]!;
    const published = await author.json(
      "publish",
      "--dir",
      request,
      "--peer",
      target.publicKey,
      "--reward",
      "100",
      "--yes",
    );
    const id = published.task_id as string;
    expect(published).toMatchObject({ sealed: true, target_peer: target.peerId });
    expect(readFileSync(`${request}.sealed.nut`).subarray(0, 4).toString("hex")).toBe("4e555402");
    // The author keeps a copy that opens without the other's key.
    const copy = await openBundle(`${request}.request.nut`);
    expect(copy.manifest.id).toBe("nut-story-task");
    await copy.close();

    const again = await author.json("publish", "--dir", request, "--peer", target.publicKey, "--yes");
    expect(again).toMatchObject({ repeated: true, task_id: id, hash: published.hash });

    const workspace = join(worker.home, "workspace");
    expect(await worker.json("claim", id, "-o", workspace)).toMatchObject({ sealed: true, verified: "published" });
    work(workspace);
    await worker.json("bid", id);
    await author.json("assign", id, target.peerId.slice(0, 20));
    const delivered = await worker.json("deliver", "--dir", workspace, "--yes");
    expect(delivered).toMatchObject({ sealed: true });
    const file = delivered.file as string;
    expect(readFileSync(file).subarray(0, 4).toString("hex")).toBe("4e555402");
    expect(await worker.json("deliver", "--dir", workspace, "--yes")).toMatchObject({
      route: "done",
      hash: delivered.hash,
    });
    expect(await author.json("receive", id, "--file", file, "--reject", "--yes")).toMatchObject({
      settled: "rejected",
    });
    expect(await double.account(0)).toMatchObject({ balance: 4200 - 5, frozen: 0 });
  });

  it("pays a simple task at delivery and says so", async () => {
    const request = writeRequest(author);
    const published = await author.run("publish", "--dir", request, "--simple", "--yes");
    expect(published.out).toContain("without review");
    const { tasks } = await worker.json("tasks", "--status", "open");
    const id = (tasks as { id: string }[])[0]!.id;
    const workspace = join(worker.home, "workspace");
    await worker.json("claim", id.slice(0, 8), "-o", workspace);
    work(workspace);
    expect(await worker.json("deliver", "--dir", workspace, "--yes")).toMatchObject({ route: "claim" });
    expect(await double.account(1)).toMatchObject({ balance: 4700 });
    expect(await worker.json("deliver", "--dir", workspace, "--yes")).toMatchObject({ route: "done" });
    expect(await double.account(1)).toMatchObject({ balance: 4700 });
  });

  it("takes work from a bidder of an open auction, and names every state", async () => {
    const request = writeRequest(author);
    const { task_id: id } = await author.json("publish", "--dir", request, "--yes");
    const workspace = join(worker.home, "w");
    await worker.json("claim", id as string, "-o", workspace);
    work(workspace);
    await worker.json("bid", id as string);
    expect(await worker.json("deliver", "--dir", workspace, "--yes")).toMatchObject({ route: "work" });
    const shown = await author.json("tasks", "show", id as string);
    expect(shown).toMatchObject({ submissions: [{ worker_id: double.nodes[1]!.peerId }], bids: [{}] });
    expect((await author.run("tasks", "board")).out).toContain(id as string);
    expect((await worker.run("tasks", "board")).code).toBe(0);
    expect(await author.run("cancel", id as string, "--yes")).toMatchObject({
      code: 0,
      out: expect.stringContaining("500 shells returned"),
    });
    expect((await worker.run("deliver", "--dir", workspace, "--yes")).err).toContain("cancelled the task");
  });

  it("sends domains and data sources to the resume only with --push", async () => {
    const request = writeRequest(author);
    expect(await author.json("profile", "--dir", request)).toMatchObject({ skills: ["greetings"], pushed: false });
    expect((await double.log()).length).toBe(0);
    await author.json("profile", "--dir", request, "--push");
    const pushed = (await double.log()).find(({ method }) => method === "PUT")!;
    expect(JSON.parse(pushed.body!)).toEqual({
      skills: ["greetings"],
      data_sources: ["none://here"],
      description: "Write a file that says hello.",
    });
  });
});
