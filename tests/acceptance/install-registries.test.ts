// Lock files installed from a registry, with the real package managers: one small server on loopback speaks their protocols.
// It is asked once, with permission; afterwards it is gone, and checks run all the same.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bwrapAvailable, findProgram } from "../../src/process/index.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { put } from "./room.js";

const held = await bwrapAvailable(process.env);
const has = (program: string) => findProgram(program, process.env) !== null;

/** Packages called adder, as each registry keeps them: made once, in a folder. */
let shelf: string;
const shelved = (name: string) => readFileSync(join(shelf, name));
const sha = (algorithm: string, bytes: Buffer | string) => createHash(algorithm).update(bytes);
beforeAll(() => {
  shelf = mkdtempSync(join(tmpdir(), "nut-shelf-"));
  put(join(shelf, "npm/package"), {
    "package.json": '{"name": "adder", "version": "1.0.0"}\n',
    "index.js": "module.exports = (a, b) => a + b;\n",
  });
  put(join(shelf, "crate/adder-1.0.0"), {
    "Cargo.toml": '[package]\nname = "adder"\nversion = "1.0.0"\nedition = "2021"\n',
    "src/lib.rs": "pub fn add(a: i64, b: i64) -> i64 { a + b }\n",
  });
  execFileSync("tar", ["-czf", join(shelf, "adder.tgz"), "-C", join(shelf, "npm"), "package"]);
  execFileSync("tar", ["-czf", join(shelf, "adder.crate"), "-C", join(shelf, "crate"), "adder-1.0.0"]);
  execFileSync("python3", ["-c", ZIPS, shelf]);
});
afterAll(() => rmSync(shelf, { recursive: true, force: true }));

let folder: string;
let server: Server;
let origin: string;
let asked: string[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "nut-registry-"));
  mkdirSync(join(folder, "tmp"));
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.url!);
    const body = answers()[request.url!];
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": typeof body === "string" ? "text/html" : "application/octet-stream",
    });
    response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await gone();
  rmSync(folder, { recursive: true, force: true });
});
const gone = () =>
  new Promise<void>((closed) => {
    server.close(() => closed());
    server.closeAllConnections();
  });

const GO_MOD = "module example.org/adder\n\ngo 1.19\n";
const answers = (): Record<string, string | Buffer> => ({
  "/adder/-/adder-1.0.0.tgz": shelved("adder.tgz"),
  "/simple/adder/": `<a href="/files/adder-1.0-py3-none-any.whl">adder-1.0-py3-none-any.whl</a>`,
  "/files/adder-1.0-py3-none-any.whl": shelved("adder.whl"),
  "/go/example.org/adder/@v/v1.0.0.info": '{"Version": "v1.0.0", "Time": "2026-01-01T00:00:00Z"}',
  "/go/example.org/adder/@v/v1.0.0.mod": GO_MOD,
  "/go/example.org/adder/@v/v1.0.0.zip": shelved("adder.zip"),
  "/index/config.json": JSON.stringify({ dl: `${origin}/crates` }),
  "/index/ad/de/adder": `${JSON.stringify({ name: "adder", vers: "1.0.0", deps: [], cksum: crateSum(), features: {}, yanked: false })}\n`,
  "/crates/adder/1.0.0/download": shelved("adder.crate"),
});
const crateSum = () => sha("sha256", shelved("adder.crate")).digest("hex");

interface Manager {
  readonly needs: string;
  readonly lock: string;
  readonly env: () => Record<string, string>;
  readonly files: () => Readonly<Record<string, string>>;
  readonly work: Readonly<Record<string, string>>;
  readonly test: string;
}

const SUM_JS = (body: string) => `module.exports = (list) => ${body};\n`;
const MANAGERS: Readonly<Record<string, Manager>> = {
  npm: {
    needs: "npm",
    lock: "package-lock.json",
    env: () => ({ npm_config_registry: origin }),
    files: () => ({
      "package.json": '{"name": "app", "dependencies": {"adder": "1.0.0"}}',
      "package-lock.json": JSON.stringify({
        name: "app",
        lockfileVersion: 3,
        packages: {
          "": { name: "app", dependencies: { adder: "1.0.0" } },
          "node_modules/adder": {
            version: "1.0.0",
            resolved: `${origin}/adder/-/adder-1.0.0.tgz`,
            integrity: `sha512-${sha("sha512", shelved("adder.tgz")).digest("base64")}`,
          },
        },
      }),
      "sum.js": SUM_JS("0"),
    }),
    work: { "sum.js": `const add = require("adder");\n${SUM_JS("list.reduce((a, b) => add(a, b), 0)")}` },
    test: 'test "$(node -p \'require("./sum.js")([1, 2, 3])\')" = 6\n',
  },
  pip: {
    needs: "python3",
    lock: "requirements.txt",
    // As the person's own settings say; no setting of the machine that runs this test comes in between.
    env: () => ({ PIP_CONFIG_FILE: settings("pip.conf", `[global]\nindex-url = ${origin}/simple\n`) }),
    files: () => ({ "requirements.txt": "adder==1.0\n", "total.py": "def total(numbers):\n    return 0\n" }),
    work: {
      "total.py":
        "from functools import reduce\nfrom adder import add\n\ndef total(numbers):\n    return reduce(add, numbers)\n",
    },
    test: "test \"$(python3 -c 'import total; print(total.total([1, 2, 3]))')\" = 6\n",
  },
  go: {
    needs: "go",
    lock: "go.sum",
    env: () => ({ GOENV: settings("go.env", `GOPROXY=${origin}/go\nGOSUMDB=off\n`) }),
    files: () => ({
      "go.mod": "module example.org/app\n\ngo 1.19\n\nrequire example.org/adder v1.0.0\n",
      "go.sum": goSum(),
      "main.go": 'package main\n\nimport "example.org/adder"\n\nfunc main() { println(adder.Add(0, 0)) }\n',
    }),
    work: {
      "main.go":
        'package main\n\nimport "example.org/adder"\n\nfunc main() { println(adder.Add(adder.Add(1, 2), 3)) }\n',
    },
    test: 'test "$(go run . 2>&1)" = 6\n',
  },
  cargo: {
    needs: "cargo",
    lock: "Cargo.lock",
    // Where rustup keeps the cargo that is on PATH.
    env: () => ({ RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), ".rustup") }),
    files: () => ({
      "Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nadder = "1.0"\n',
      "Cargo.lock": `version = 3\n\n[[package]]\nname = "adder"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "${crateSum()}"\n\n[[package]]\nname = "app"\nversion = "0.1.0"\ndependencies = [\n "adder",\n]\n`,
      ".cargo/config.toml": `[source.crates-io]\nreplace-with = "here"\n\n[source.here]\nregistry = "sparse+${origin}/index/"\n`,
      "src/main.rs": 'fn main() { println!("{}", adder::add(0, 0)); }\n',
    }),
    work: { "src/main.rs": 'fn main() { println!("{}", adder::add(adder::add(1, 2), 3)); }\n' },
    test: 'test "$(cargo run -q)" = 6\n',
  },
};

/** A file of the person's own. */
function settings(name: string, text: string): string {
  put(join(folder, "settings"), { [name]: text });
  return join(folder, "settings", name);
}

/** As go.sum has them: a digest over the digests of a module's files. */
function goSum(): string {
  const hash = (files: Readonly<Record<string, string>>) => {
    const lines = Object.entries(files).map(([name, text]) => `${sha("sha256", text).digest("hex")}  ${name}\n`);
    return `h1:${sha("sha256", lines.join("")).digest("base64")}`;
  };
  const inZip = { "example.org/adder@v1.0.0/adder.go": GO_CODE, "example.org/adder@v1.0.0/go.mod": GO_MOD };
  return `example.org/adder v1.0.0 ${hash(inZip)}\nexample.org/adder v1.0.0/go.mod ${hash({ "go.mod": GO_MOD })}\n`;
}
const GO_CODE = "package adder\n\nfunc Add(a, b int) int { return a + b }\n";

function project({ lock, files, work, test }: Manager): void {
  const manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-11111111-1111-4111-8111-111111111111",
    created_at: "2026-03-14T10:00:00Z",
    task: { title: "Sum", summary: "add numbers up" },
    acceptance: { criteria_file: "tests/criteria.json", install: [lock] },
  };
  const all = {
    "nutshell.json": JSON.stringify(manifest),
    "tests/criteria.json": JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", script: "tests/sum.sh" }] }),
    "tests/sum.sh": test,
    ...files(),
  };
  put(join(folder, "request"), all);
  put(join(folder, "work"), { ...all, ...work });
}

const accept = async ({ env }: Manager, ...more: string[]) => {
  const run = await runNutshell(["accept", "work", "-r", "request", "--trials", "1", ...more], {
    cwd: folder,
    env: { HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), ...env() },
  });
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  return run;
};

describe.runIf(held)("what a lock file names in a registry", () => {
  for (const [name, manager] of Object.entries(MANAGERS)) {
    it.skipIf(!has(manager.needs))(
      `is fetched by ${name} once, and then needs no registry`,
      async () => {
        project(manager);
        const refused = await accept(manager);
        expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--allow-install") });
        expect(asked).toEqual([]);
        const first = await accept(manager, "--allow-install");
        expect(first, `${first.err}${first.out}`).toMatchObject({ code: 0 });
        expect(first.out).toContain("1 proven by the work");
        expect(asked).not.toEqual([]);
        await gone();
        const again = await accept(manager);
        expect(again, `${again.err}${again.out}`).toMatchObject({ code: 0 });
        expect(again.err).not.toContain("installing");
      },
      60_000,
    );
  }
});

const ZIPS = `
import sys, zipfile
def archive(path, files):
    with zipfile.ZipFile(path, "w") as z:
        for name, text in files.items(): z.writestr(zipfile.ZipInfo(name), text)
archive(sys.argv[1] + "/adder.whl", {
    "adder.py": "def add(a, b):\\n    return a + b\\n",
    "adder-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: adder\\nVersion: 1.0\\n",
    "adder-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "adder-1.0.dist-info/RECORD": "adder.py,,\\n",
})
archive(sys.argv[1] + "/adder.zip", {
    "example.org/adder@v1.0.0/adder.go": ${JSON.stringify(GO_CODE)},
    "example.org/adder@v1.0.0/go.mod": ${JSON.stringify(GO_MOD)},
})
`;
