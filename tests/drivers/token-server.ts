import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Renewal {
  readonly host: string;
  readonly token?: string;
  /** The token was the one that works. */
  readonly good: boolean;
}

export interface TokenServer {
  /** How a program on this machine finds its vendor. */
  readonly env: Readonly<Record<string, string>>;
  /** Renewals asked for so far. */
  renewals(): Renewal[];
  close(): void;
}

/** A rotating token server in a process of its own; its authority lives in `folder`. */
export async function tokenServer(folder: string, refreshToken: string): Promise<TokenServer> {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "ignore" });
  const hosts = ["platform.claude.com", "console.anthropic.com", "api.anthropic.com", "auth.openai.com", "chatgpt.com"];
  const names = `subjectAltName=${hosts.map((name) => `DNS:${name}`).join(",")}`;
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl(
    "req",
    "-x509",
    ...key,
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
    "-days",
    "2",
    "-subj",
    "/CN=test authority",
  );
  openssl("req", ...key, "-keyout", at("leaf.key"), "-out", at("leaf.csr"), "-subj", "/CN=vendor", "-addext", names);
  openssl(
    "x509",
    "-req",
    "-in",
    at("leaf.csr"),
    "-CA",
    at("ca.pem"),
    "-CAkey",
    at("ca.key"),
    "-out",
    at("leaf.pem"),
    "-days",
    "2",
    "-copy_extensions",
    "copy",
  );
  const program = fileURLToPath(new URL("token-server.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, at("leaf.key"), at("leaf.pem"), refreshToken], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  const port = await new Promise<string>((resolve) => {
    child.stdout.on("data", (data) => {
      said += data;
      if (said.includes("\n")) resolve(said.split("\n")[0]!);
    });
  });
  const proxy = `http://127.0.0.1:${port}`;
  const trust = { NODE_EXTRA_CA_CERTS: at("ca.pem"), SSL_CERT_FILE: at("ca.pem") };
  return {
    env: { HTTPS_PROXY: proxy, https_proxy: proxy, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1", ...trust },
    renewals: () =>
      said
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => JSON.parse(line))
        .filter(({ url }) => url.includes("/oauth/token")),
    close: () => void child.kill(),
  };
}

export const jwt = (claims: object): string =>
  ["{}", JSON.stringify(claims), "signed"].map((part) => Buffer.from(part).toString("base64url")).join(".");
