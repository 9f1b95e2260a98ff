// What other programs' registries and editors read of this package agrees with the package.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporary } from "../temporary.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const own = json("package.json");

describe("the MCP registry", () => {
  it("finds the server under the name the package gives, in its version, by a program the package has", () => {
    const { name, version, description, packages } = json("server.json");
    expect(name).toBe(own.mcpName);
    expect(name).toMatch(/^[\w.-]+\/[\w.-]+$/);
    expect(version).toBe(own.version);
    expect(description.length).toBeLessThanOrEqual(100);
    expect(packages).toHaveLength(1);
    expect(packages[0]).toMatchObject({ registryType: "npm", identifier: own.name, version: own.version });
    // npx runs the program that is named as the package is.
    expect(own.bin[own.name]).toBe("bin/nexus.js");
    expect(packages[0].packageArguments).toEqual([{ type: "positional", value: "mcp" }]);
  });
});

describe("the devcontainer feature", () => {
  const script = join(root, "devcontainer/src/nutcracker/install.sh");
  function install(env: Record<string, string>, programs: readonly string[]) {
    const bin = join(temporary("nut-feature-"), "bin");
    mkdirSync(bin);
    for (const name of programs) {
      writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} "$@"\n`);
      chmodSync(join(bin, name), 0o755);
    }
    return spawnSync("/bin/sh", [script], { env: { PATH: bin, ...env }, encoding: "utf8" });
  }

  it("is of the package's version, and installs what is asked for", () => {
    expect(json("devcontainer/src/nutcracker/devcontainer-feature.json")).toMatchObject({ version: own.version });
    const { status, stdout } = install({ VERSION: "0.1.0" }, ["npm", "bwrap"]);
    expect([status, stdout]).toEqual([0, "npm install -g nutcracker@0.1.0\n"]);
    expect(install({ SANDBOX: "false" }, ["npm"]).stdout).toBe("npm install -g nutcracker@latest\n");
  });

  it("says what is missing, and takes no version that is none", () => {
    expect(install({}, ["bwrap"]).stderr).toContain("npm is missing");
    expect(install({ VERSION: "1; reboot" }, ["npm", "bwrap"])).toMatchObject({ status: 1, stdout: "" });
  });
});

describe("the VS Code extension", () => {
  const extension = json("editors/vscode/package.json");
  const { argumentsOf, kindOf } = createRequire(import.meta.url)("../../editors/vscode/commands.js");

  it("is of the package's version and shows schemas that are there", () => {
    expect(extension.version).toBe(own.version);
    for (const { url } of extension.contributes.jsonValidation) {
      expect(json(url.replace("./schemas/", "schemas/")).$id, url).toMatch(/^urn:nutcracker:schema:/);
    }
    expect(extension.contributes.configuration.properties["nutcracker.program"].scope).toBe("machine");
  });

  it("starts nutshell with a list of words, whatever a file is called", () => {
    expect(argumentsOf({ verb: "verify", path: "a b.nut", request: "r;x.nut" })).toEqual([
      "verify",
      "a b.nut",
      "--request",
      "r;x.nut",
      "--rerun",
    ]);
    expect(argumentsOf({ verb: "inspect", path: "--json" })).toEqual(["inspect", "./--json"]);
    expect(() => argumentsOf({ verb: "publish", path: "a" })).toThrow("no such task");
    expect([kindOf('{"bundle_type":"request"}'), kindOf("{"), kindOf('{"name":"x"}')]).toEqual(["request", null, null]);
  });
});
