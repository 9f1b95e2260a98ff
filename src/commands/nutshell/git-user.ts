import { execFile } from "node:child_process";
import type { Context } from "../../operation.js";

/** Who git thinks is working in a folder; nobody, when there is no git. */
export function gitUser(cwd: string, { env }: Pick<Context, "env">): Promise<string | undefined> {
  return new Promise((done) => {
    const options = { cwd, env: env as NodeJS.ProcessEnv, timeout: 3000 };
    execFile("git", ["config", "--get", "user.name"], options, (error, stdout) => {
      const name = stdout.trim();
      done(error !== null || name === "" ? undefined : name);
    });
  });
}
