// git's own server, over HTTP, for whoever brings a token: repo.git and other.git, each with one commit.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
export const hasGitServer = existsSync(backend);
export const WHO = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];

export interface GitServer {
  readonly folder: string;
  readonly origin: string;
  /** An environment in which git obeys nobody's settings. */
  readonly quiet: NodeJS.ProcessEnv;
  /** What was asked without the token. */
  readonly strangers: string[];
  git(...args: string[]): string;
  stop(): void;
}

export async function startGitServer(secret: string): Promise<GitServer> {
  const folder = mkdtempSync(join(tmpdir(), "nut-git-"));
  const quiet = {
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    HOME: folder,
    PATH: process.env.PATH,
  };
  const git = (...args: string[]) =>
    execFileSync("git", [...WHO, ...args], { env: quiet, stdio: "pipe", encoding: "utf8" });
  git("init", "-q", join(folder, "first"));
  writeFileSync(join(folder, "first/a.txt"), "a\n");
  git("-C", join(folder, "first"), "add", ".");
  git("-C", join(folder, "first"), "commit", "-qm", "a");
  for (const name of ["repo.git", "other.git"]) git("clone", "-q", "--bare", join(folder, "first"), join(folder, name));
  git("-C", join(folder, "repo.git"), "config", "http.receivepack", "true");
  const strangers: string[] = [];
  const server = serve(secret, { folder, quiet, strangers });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...{ folder, quiet, strangers, git },
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** git's CGI program. */
function serve(
  secret: string,
  { folder, quiet, strangers }: Pick<GitServer, "folder" | "quiet" | "strangers">,
): Server {
  const wanted = `Basic ${Buffer.from(`x-access-token:${secret}`).toString("base64")}`;
  return createServer((request, response) => {
    if (request.headers.authorization !== wanted) {
      strangers.push(`${request.method} ${request.url}`);
      response.writeHead(401, { "www-authenticate": "Basic" }).end();
      return;
    }
    const [path, query = ""] = request.url!.split("?");
    const child = spawn(backend, [], {
      env: {
        ...quiet,
        ...{
          GIT_PROJECT_ROOT: folder,
          GIT_HTTP_EXPORT_ALL: "1",
          PATH_INFO: path,
          QUERY_STRING: query,
          REMOTE_USER: "a",
        },
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      },
    });
    request.pipe(child.stdin);
    const parts: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    child.stdout.on("end", () => {
      const whole = Buffer.concat(parts);
      const end = whole.indexOf("\r\n\r\n");
      const rows = whole
        .subarray(0, end)
        .toString("latin1")
        .split("\r\n")
        .map((row) => row.split(/:\s*/, 2) as [string, string]);
      const status = Number(rows.find(([name]) => name === "Status")?.[1].split(" ")[0] ?? 200);
      response
        .writeHead(status, Object.fromEntries(rows.filter(([name]) => name !== "Status")))
        .end(whole.subarray(end + 4));
    });
  });
}
