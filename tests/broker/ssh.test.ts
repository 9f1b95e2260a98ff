// An SSH key that is lent, by OpenSSH's own programs and servers: it opens the host it is for, and is never seen.
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Admission, type Broker, type BrokerUse, openBroker } from "../../src/broker/index.js";
import { temporary } from "../temporary.js";
import { hasSshd, type SshServer, startSshd } from "./ssh-server.js";

describe.skipIf(!hasSshd)("an SSH key that is lent (needs openssh-server)", () => {
  let [server, other]: SshServer[] = [];
  let broker: Broker;
  let lent: Admission;
  const uses: BrokerUse[] = [];

  beforeAll(async () => {
    [server, other] = await Promise.all([startSshd(), startSshd()]);
    // The same key is let in by both.
    copyFileSync(join(server!.folder, "client.pub"), join(other!.folder, "authorized"));
    broker = await openBroker({ onUse: (use) => uses.push(use) });
    const { key, knownHosts, user, port } = server!;
    const restrictions = { hosts: `[127.0.0.1]:${port}`, user, known_hosts: knownHosts };
    const credential = { name: "deploy", type: "ssh_key", value: key, restrictions };
    await broker.lend({ credential, scope: undefined, expiresAt: null, manifest: {}, endpoints: null });
    lent = await broker.admit({ by: "engineer-1", role: null });
  });
  afterAll(async () => {
    await broker.close();
    expect(existsSync(lent.env.SSH_AUTH_SOCK!)).toBe(false);
    server!.stop();
    other!.stop();
  });

  const run = (program: string, args: readonly string[]) =>
    new Promise<{ out: string; err: string }>((resolve) => {
      const env = { PATH: process.env.PATH, HOME: "/nonexistent", ...lent.env };
      const done = (_error: unknown, out: string, err: string) => resolve({ out: out.trim(), err });
      // Some of them ask for a password.
      execFile(program, args, { env, timeout: 15_000 }, done).stdin!.end();
    });
  const ssh = ({ port, user, folder }: SshServer, command: string, more: readonly string[] = [], as = user) =>
    run("ssh", [
      ...[
        "-F",
        "none",
        "-o",
        "BatchMode=yes",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        `UserKnownHostsFile=${folder}/known`,
      ],
      ...["-p", String(port), ...more, `${as}@127.0.0.1`, command],
    ]);

  it("opens the host it is for", async () => {
    expect((await ssh(server!, "echo in")).out).toBe("in");
    expect(uses.at(-1)).toMatchObject({
      name: "deploy",
      by: "engineer-1",
      what: `sign a login as ${server!.user}`,
      allowed: true,
    });
    expect(JSON.stringify(lent.env)).not.toContain("PRIVATE KEY");
    expect(readFileSync(join(lent.folders![0]!, "known_hosts"), "utf8")).not.toContain("PRIVATE");
  });

  it("opens no other host, from here or by forwarding", async () => {
    expect((await ssh(other!, "echo in")).err).toContain("Permission denied");
    const { port, user } = other!;
    const onward = `ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -p ${port} ${user}@127.0.0.1 echo in`;
    const { out, err } = await ssh(server!, onward, ["-A"]);
    expect([out, err.includes("Permission denied")]).toEqual(["", true]);
  });

  it("logs nobody else in", async () => {
    await ssh(server!, "echo in", [], "somebody");
    expect(uses.filter(({ what, allowed }) => allowed && what.includes("somebody"))).toEqual([]);
  });

  it("signs nothing but logins, and takes no orders", async () => {
    const file = join(server!.folder, "text");
    writeFileSync(file, "a commit\n");
    const signed = await run("ssh-keygen", ["-Y", "sign", "-n", "git", "-f", join(server!.folder, "client.pub"), file]);
    expect(signed.err).toMatch(/agent refused|Couldn't sign/);
    expect(uses.at(-1)).toMatchObject({
      allowed: false,
      why: expect.stringContaining("signs logins and nothing else"),
    });
    for (const order of [["-D"], ["-x"], ["-d", join(server!.folder, "client.pub")]]) await run("ssh-add", order);
    expect((await run("ssh-add", ["-L"])).out).toContain("ssh-ed25519");
    expect((await ssh(server!, "echo in")).out).toBe("in");
  });

  it("passes no order on, in whatever form", async () => {
    const text = (value: string | Buffer) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(value.length);
      return Buffer.concat([length, Buffer.from(value)]);
    };
    const order = (type: number, ...fields: Buffer[]) => text(Buffer.concat([Buffer.of(type), ...fields]));
    const key = Buffer.from(server!.publicKey.split(" ")[1]!, "base64");
    const login = (...fields: Buffer[]) => order(13, text(key), text(Buffer.concat(fields)), Buffer.alloc(4));
    const [session, method] = [text("session"), [text("ssh-connection"), text("publickey")]];
    const orders = {
      // Adding, removing, locking, cards, old keys.
      ...Object.fromEntries(
        [1, 3, 7, 8, 9, 17, 18, 19, 20, 21, 22, 23, 25, 26].map((type) => [type, order(type, text(key))]),
      ),
      "an extension nobody knows": order(27, text("query")),
      "an extension that lifts": order(27, text("restrict-destination-v00@openssh.com")),
      "an extension cut off": order(27, Buffer.of(0, 0, 0, 99)),
      "an extension of a longer name": order(27, text("session-bind@openssh.com\0x")),
      "a signature of nothing": login(),
      "a signature of a file": login(Buffer.from("SSHSIG"), text("git"), text(""), text("sha512"), text("digest")),
      "a signature of another message": login(session, Buffer.of(51), text(server!.user), ...method),
      "a login to another service": login(
        session,
        Buffer.of(50),
        text(server!.user),
        text("ssh-userauth"),
        text("publickey"),
      ),
      "a login by another way": login(
        session,
        Buffer.of(50),
        text(server!.user),
        text("ssh-connection"),
        text("hostbased"),
      ),
      "somebody else's login": login(session, Buffer.of(50), text("somebody"), ...method),
      "a login whose name goes on": login(session, Buffer.of(50), text(`${server!.user}\0`), ...method),
      // Of a session that no host's key was bound to.
      "a login to nowhere": login(session, Buffer.of(50), text(server!.user), ...method),
    };
    for (const [name, bytes] of Object.entries(orders)) {
      const answer = await new Promise<Buffer>((resolve) => {
        const socket = createConnection(lent.env.SSH_AUTH_SOCK!, () => socket.write(bytes));
        socket.once("data", (chunk) => {
          socket.destroy();
          resolve(chunk);
        });
      });
      expect([name, [...answer]]).toEqual([name, [0, 0, 0, 1, 5]]);
    }
    expect((await run("ssh-add", ["-L"])).out).toContain("ssh-ed25519");
    expect((await ssh(server!, "echo in")).out).toBe("in");
  });

  it("waits until its agent listens, not only until its socket is there", async () => {
    const { key, user } = server!;
    const real = execFileSync("sh", ["-c", "command -v ssh-agent"], { encoding: "utf8" }).trim();
    const slow = temporary("nut-slow-agent-");
    writeFileSync(join(slow, "ssh-agent"), `#!/bin/sh\n: > "$3" && sleep 0.3 && rm "$3"\nexec ${real} "$@"\n`, {
      mode: 0o755,
    });
    vi.stubEnv("PATH", `${slow}:${process.env.PATH}`);
    const late = await openBroker({ onUse: (use) => uses.push(use) });
    try {
      const credential = { name: "late", type: "ssh_key", value: key, restrictions: { hosts: "127.0.0.1", user } };
      await late.lend({ credential, scope: undefined, expiresAt: null, manifest: {}, endpoints: null });
      const { env } = await late.admit({ by: "engineer-1", role: null });
      expect(uses.at(-1)).not.toMatchObject({ name: "late", allowed: false });
      expect(env.SSH_AUTH_SOCK).toBeDefined();
    } finally {
      vi.unstubAllEnvs();
      await late.close();
    }
  });

  it("does not fall over nonsense", async () => {
    for (const bytes of ["\0\0\0\x01\x1b", "\0\0\0\x05\x0d\xff\xff\xff\xff", "\xff\xff\xff\xff\x01", "\0\0\0\0"]) {
      await new Promise<void>((resolve) => {
        const socket = createConnection(lent.env.SSH_AUTH_SOCK!, () => socket.write(Buffer.from(bytes, "latin1")));
        socket.setTimeout(150, () => socket.destroy());
        socket.on("data", () => socket.destroy());
        socket.on("error", () => {});
        socket.once("close", () => resolve());
      });
    }
    expect((await ssh(server!, "echo in")).out).toBe("in");
  });
});
