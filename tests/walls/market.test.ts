// A daemon that lies: about what it stored, about what it announced, about how long its list is, about names.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Double, leave, type Person, person, startDouble, writeRequest } from "../market/double.js";

let double: Double;
let author: Person;
beforeEach(async () => {
  double = await startDouble();
  author = person(double.nodes[0]!);
});
afterEach(async () => {
  await double.stop();
  leave(author);
});

const answer = (method: string, path: string, body: unknown, times = 1) =>
  double.control("fault", { kind: "status", status: 200, method, path, times, body: JSON.stringify(body) });
const publish = () => author.run("publish", "--dir", writeRequest(author), "--yes");
const sent = async (method: string) => (await double.log()).filter((row) => row.method === method);
const task = (fields: object) => ({ id: "t-1", title: "t", reward: 500, status: "open", ...fields });
const manyTasks = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => task({ id: `t-${from + i}`, author_id: "x" }));

describe("a daemon that is not to be believed", () => {
  it.each([
    ["says nothing of what it stored", { task_id: "t" }, "does not say what it stored"],
    ["stored other bytes", { hash: "0".repeat(64) }, "stored other bytes"],
    ["sends a hash that is no text", { hash: { a: 1 } }, "does not say what it stored"],
  ])("%s: the bundle did not arrive", async (_, body, words) => {
    await answer("POST", "/bundle$", body);
    const { code, err } = await publish();
    expect(code).toBe(2);
    expect(err).toContain(words);
    expect(err).toContain("its bundle did not arrive");
  });

  it.each([
    ["another hash", { nutshell_hash: `sha256:${"0".repeat(64)}` }],
    ["no hash", {}],
    ["another reward", { reward: 100_000 }],
  ])("announces %s: nothing is uploaded, and the way back is said", async (_, fields) => {
    await answer("POST", "/api/tasks$", { task: task(fields) });
    const { code, err } = await publish();
    expect(code).toBe(2);
    expect(err).toContain("with another hash or reward");
    expect(err).toContain("nutshell cancel t-1");
    expect((await sent("POST")).filter(({ path }) => path.endsWith("/bundle"))).toEqual([]);
    expect(JSON.parse(readFileSync(join(author.home, "task/nutshell.json"), "utf8")).extensions.clawnet.task_id).toBe(
      undefined,
    );
  });

  it.each(["../../etc/passwd", "a/b", "..", "a b", "x".repeat(200), "-rf\n"])("calls a task %j", async (id) => {
    await answer("POST", "/api/tasks$", { task: task({ id }) });
    const { code, err } = await publish();
    expect(code).toBe(2);
    expect(err).toContain("is not a task id");
    expect(existsSync(join(author.home, "../etc"))).toBe(false);
  });

  it("sends more than it was asked for", async () => {
    await answer("GET", "/api/tasks", manyTasks(5_000));
    const { tasks } = await author.json("tasks", "--limit", "3");
    expect(tasks).toHaveLength(3);
  });

  it("sends the same page for ever: nothing is published blindly", async () => {
    await answer("GET", "/api/tasks$", manyTasks(200), 1_000);
    const { code, err } = await publish();
    expect(code).toBe(2);
    expect(err).toContain("does not end");
    expect(await sent("POST")).toEqual([]);
    expect((await sent("GET")).length).toBeLessThan(10);
    expect(readdirSync(author.home).filter((name) => name.endsWith(".nut"))).toEqual([]);
  });

  it.each([
    ["a list that is none", { tasks: 1 }],
    ["tasks without an id", [{ title: "x" }]],
    ["numbers", 7],
  ])("sends %s", async (_, body) => {
    await answer("GET", "/api/tasks", body);
    const { code, err } = await author.run("tasks");
    expect(code).toBe(2);
    expect(err).toContain("makes no sense");
  });

  it("sends text that would speak to the terminal", async () => {
    await answer("GET", "/api/tasks", [task({ title: "\u001b[2J\u001b]0;owned\u0007x" })]);
    const { out } = await author.run("tasks");
    expect(out).not.toContain("\u001b]0;");
    expect(out).not.toContain("\u001b[2J");
  });
});
