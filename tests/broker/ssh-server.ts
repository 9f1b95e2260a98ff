// A real sshd for one key, on a port of its own.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const hasSshd = existsSync("/usr/sbin/sshd") && existsSync("/usr/bin/ssh-agent");

export interface SshServer {
  readonly port: number;
  readonly folder: string;
  /** The private key whose holder is let in. */
  readonly key: string;
  readonly publicKey: string;
  /** A line of known_hosts. */
  readonly knownHosts: string;
  readonly user: string;
  stop(): void;
}

export async function startSshd(): Promise<SshServer> {
  const folder = mkdtempSync(join(tmpdir(), "nut-sshd-"));
  const at = (name: string) => join(folder, name);
  for (const name of ["host", "client"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
  writeFileSync(at("authorized"), readFileSync(at("client.pub")), { mode: 0o600 });
  const settings = [
    "ListenAddress 127.0.0.1",
    `HostKey ${at("host")}`,
    `AuthorizedKeysFile ${at("authorized")}`,
    `PidFile ${at("pid")}`,
    "StrictModes no",
    "PasswordAuthentication no",
    "UsePAM no",
    "AllowAgentForwarding yes",
    "PermitRootLogin yes",
  ];
  writeFileSync(at("config"), `${settings.join("\n")}\n`);
  if (userInfo().uid === 0) mkdirSync("/run/sshd", { recursive: true });
  const { server, port } = await listening(at("config"));
  const [kind, body] = readFileSync(at("host.pub"), "utf8").split(" ");
  return {
    port,
    folder,
    key: readFileSync(at("client"), "utf8"),
    publicKey: readFileSync(at("client.pub"), "utf8"),
    knownHosts: `[127.0.0.1]:${port} ${kind} ${body}`,
    user: userInfo().username,
    stop: () => {
      server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const MOST_PORTS = 5;

/** A port that was free may be another's a moment later. */
async function listening(config: string): Promise<{ readonly server: ChildProcess; readonly port: number }> {
  for (let ports = 0; ports < MOST_PORTS; ports += 1) {
    const port = await freePort();
    const server = spawn("/usr/sbin/sshd", ["-D", "-e", "-p", String(port), "-f", config], { stdio: "ignore" });
    for (let tries = 0; tries < 600 && server.exitCode === null; tries += 1) {
      if (await answers(port)) return { server, port };
      await sleep(50);
    }
    server.kill();
  }
  throw new Error("sshd does not start");
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
