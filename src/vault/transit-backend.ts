// HashiCorp Vault's transit engine: the server holds the key, the file holds what it encrypted.
// The address and the token are the user's own, never the bundle's, and the token goes to that one host only.
import { NutError } from "../errors.js";
import type { Backend, Keys, Target, TransitSettings } from "./backend.js";
import { jsonShape } from "./json.js";

const DEFAULT_KEY = "nutshell";
const DEFAULT_MOUNT = "transit";
const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const MAX_REDIRECTS = 3;

interface TransitFile {
  readonly transit: { readonly key: string; readonly mount: string };
  readonly ciphertext: string;
}

export const transitBackend: Backend = {
  name: "vault",
  recognises: (bytes) => readFile(bytes) !== null,
  async open(bytes, keys) {
    const { transit, ciphertext } = readFile(bytes)!;
    const data = await call(keys, pathOf("decrypt", transit), { ciphertext });
    if (typeof data.plaintext !== "string") throw unexpected();
    return Buffer.from(data.plaintext, "base64");
  },
  async seal(plain, { transitKey = DEFAULT_KEY, transitMount = DEFAULT_MOUNT }, keys) {
    const transit = { key: transitKey, mount: transitMount };
    const data = await call(keys, pathOf("encrypt", transit), { plaintext: Buffer.from(plain).toString("base64") });
    return toFile(transit, data.ciphertext);
  },
  async targetOf(bytes): Promise<Target> {
    const { transit } = readFile(bytes)!;
    return { transitKey: transit.key, transitMount: transit.mount };
  },
};

/** Encrypts again with the newest version of the server's key; the content never leaves the server in clear. */
export async function rewrapTransit(bytes: Uint8Array, keys: Keys): Promise<Uint8Array> {
  const file = readFile(bytes);
  if (file === null)
    throw new NutError("VAULT_BACKEND", "only a vault of HashiCorp's transit engine can be rewrapped", {
      hint: "nutshell rotate --help",
    });
  const data = await call(keys, pathOf("rewrap", file.transit), { ciphertext: file.ciphertext });
  return toFile(file.transit, data.ciphertext);
}

function readFile(bytes: Uint8Array): TransitFile | null {
  const shape = jsonShape(bytes);
  const transit = shape?.transit as TransitFile["transit"] | undefined;
  if (shape === null || typeof shape.ciphertext !== "string" || !shape.ciphertext.startsWith("vault:v")) return null;
  return typeof transit?.key === "string" && typeof transit.mount === "string"
    ? { transit: { key: transit.key, mount: transit.mount }, ciphertext: shape.ciphertext }
    : null;
}

function toFile(transit: TransitFile["transit"], ciphertext: unknown): Uint8Array {
  if (typeof ciphertext !== "string" || !ciphertext.startsWith("vault:v")) throw unexpected();
  return Buffer.from(`${JSON.stringify({ transit, ciphertext }, null, 2)}\n`, "utf8");
}

/** The names come from a file that may be hostile, so they may not leave their place in the address. */
function pathOf(action: "encrypt" | "decrypt" | "rewrap", { key, mount }: TransitFile["transit"]): string {
  if (
    !/^[A-Za-z0-9_.-]{1,128}$/.test(key) ||
    !/^[A-Za-z0-9_-]{1,64}(\/[A-Za-z0-9_-]{1,64}){0,4}$/.test(mount) ||
    /^\.+$/.test(key)
  ) {
    throw new NutError("VAULT_BACKEND", "the transit key or mount has characters that do not belong in a name", {
      hint: "use letters, digits, - and _: --transit-key '<name>'",
    });
  }
  return `/v1/${mount}/${action}/${key}`;
}

type TransitData = Readonly<Record<string, unknown>>;

async function call(keys: Keys, path: string, body: Record<string, string>): Promise<TransitData> {
  const settings = keys.transit ?? null;
  if (settings === null) {
    throw new NutError("VAULT_NO_MATCHING_KEY", "this vault opens with HashiCorp Vault, and no server is named", {
      hint: "export VAULT_ADDR=https://… and run: vault login",
    });
  }
  let url = new URL(path, checkAddress(settings.address));
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const { status, location, text } = await post(url, settings, JSON.stringify(body), keys.signal);
    if (status >= 300 && status < 400 && location !== undefined) {
      const next = new URL(location, url);
      if (next.origin !== url.origin) {
        throw new NutError(
          "VAULT_UNREACHABLE",
          `${url.origin} redirects to ${next.origin}; the token is not sent there`,
          {
            hint: `export VAULT_ADDR=${next.origin}`,
          },
        );
      }
      url = next;
      continue;
    }
    return readAnswer(status, text, url);
  }
  throw new NutError("VAULT_UNREACHABLE", `${url.origin} redirects in a circle`, { hint: "vault status" });
}

function checkAddress(address: string): URL {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new NutError("VAULT_BACKEND", "VAULT_ADDR is not an address", { hint: "export VAULT_ADDR=https://…" });
  }
  const loopback = ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && loopback)) {
    throw new NutError("VAULT_BACKEND", `${url.origin} is not https; the token would travel in clear`, {
      hint: `export VAULT_ADDR=https://${url.host}`,
    });
  }
  return url;
}

interface Reply {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
}

async function post(
  url: URL,
  settings: TransitSettings,
  body: string,
  signal: AbortSignal | undefined,
): Promise<Reply> {
  // Loaded here because every command that packs loads this file, and Node's http is slow to load.
  const { request } = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "x-vault-request": "true",
    "x-vault-token": settings.token,
    ...(settings.namespace === undefined ? {} : { "x-vault-namespace": settings.namespace }),
  };
  return new Promise((resolve, reject) => {
    const fail = (why: string) =>
      reject(new NutError("VAULT_UNREACHABLE", `${url.origin}: ${why}`, { hint: "vault status" }));
    const sent = request(url, { method: "POST", headers, ca: settings.ca, timeout: TIMEOUT_MS, signal }, (answer) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      answer.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > MAX_ANSWER_BYTES) sent.destroy();
        else parts.push(part);
      });
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          location: answer.headers.location,
          text: Buffer.concat(parts).toString("utf8"),
        }),
      );
      answer.on("error", () => fail("the answer broke off"));
      answer.on("close", () => fail("the answer broke off"));
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    // The system's words name the host and the reason, never what was sent.
    sent.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    sent.end(body);
  });
}

function readAnswer(status: number, text: string, url: URL): TransitData {
  if (status === 403) {
    throw new NutError("VAULT_NO_MATCHING_KEY", `${url.origin} refuses: the token may not use this key`, {
      hint: "vault login",
      data: { status },
    });
  }
  if (status >= 400 || status < 200) {
    // The server's own words may repeat what was sent.
    const what = status >= 500 ? "VAULT_UNREACHABLE" : "VAULT_DAMAGED";
    throw new NutError(what, `${url.origin} answered ${status}`, { hint: "vault status", data: { status } });
  }
  let data: unknown;
  try {
    data = (JSON.parse(text) as { data?: unknown }).data;
  } catch {
    throw unexpected();
  }
  if (typeof data !== "object" || data === null) throw unexpected();
  return data as TransitData;
}

function unexpected(): NutError {
  return new NutError("VAULT_UNREACHABLE", "the server's answer is not what the transit engine sends", {
    hint: "vault status",
  });
}
