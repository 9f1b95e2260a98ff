// A repository over HTTP whose token is lent: git as it is, by git's own server.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Broker, type BrokerUse, openBroker } from "../../src/broker/index.js";
import { type GitServer, hasGitServer, startGitServer, WHO } from "./git-server.js";
import { SECRET } from "./service.js";

let server: GitServer;
let folder: string;
let origin: string;
let quiet: NodeJS.ProcessEnv;
const brokers: Broker[] = [];
const git = (...args: string[]) => server.git(...args);

async function lend(scopes: string[]) {
  const uses: BrokerUse[] = [];
  const broker = await openBroker({ allowOrigins: [origin], onUse: (use) => uses.push(use) });
  brokers.push(broker);
  const credential = {
    name: "source",
    type: "git",
    value: SECRET,
    scopes,
    restrictions: { repository: `${origin}/repo.git` },
  };
  await broker.lend({ credential, scope: undefined, expiresAt: null, manifest: {}, endpoints: null });
  const { env } = await broker.admit({ by: "engineer-1", role: null });
  const run = (...args: string[]) =>
    new Promise<{ code: number; text: string }>((resolve) => {
      execFile("git", [...WHO, ...args], { env: { ...quiet, ...env }, timeout: 20_000 }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), text: out + err }),
      );
    });
  return { run, uses, env };
}

describe.skipIf(!hasGitServer)("a repository whose token is lent (needs git-http-backend)", () => {
  beforeAll(async () => {
    server = await startGitServer(SECRET);
    ({ folder, origin, quiet } = server);
  });
  afterEach(async () => {
    await Promise.all(brokers.splice(0).map((broker) => broker.close()));
  });
  afterAll(() => server.stop());

  async function pushes(scopes: string[], name: string) {
    const lent = await lend(scopes);
    const copy = join(folder, name);
    // Without .git, as people write it.
    expect(await lent.run("clone", "-q", `${origin}/repo`, copy)).toMatchObject({ code: 0 });
    writeFileSync(join(copy, `${name}.txt`), "b\n");
    await lent.run("-C", copy, "add", ".");
    await lent.run("-C", copy, "commit", "-qm", name);
    return { ...lent, pushed: await lent.run("-C", copy, "push", "-q", "origin", "HEAD") };
  }

  it("is fetched by git as it is, and not pushed with read access", async () => {
    const { pushed, uses, env } = await pushes(["read"], "reads");
    expect(pushed.code).not.toBe(0);
    expect(uses.at(-1)).toMatchObject({ allowed: false, why: 'credential "source" may only fetch, not push' });
    expect(git("-C", join(folder, "repo.git"), "log", "--format=%s").trim()).toBe("a");
    expect(JSON.stringify([env, uses, pushed])).not.toContain(SECRET);
  });

  it("is pushed with write access", async () => {
    expect((await pushes(["read", "write"], "writes")).pushed).toMatchObject({ code: 0 });
    expect(git("-C", join(folder, "repo.git"), "log", "-1", "--format=%s").trim()).toBe("writes");
  });

  it("opens no other repository", async () => {
    const { run, uses } = await lend(["read", "write"]);
    expect((await run("ls-remote", `${origin}/other.git`)).code).not.toBe(0);
    expect(server.strangers.at(-1)).toContain("/other.git");
    expect((await run("ls-remote", `${origin}/repo.git/../other.git`)).code).not.toBe(0);
    expect(uses.filter(({ allowed }) => allowed)).toEqual([]);
  });
});
