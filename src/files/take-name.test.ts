import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { takeName } from "./take-name.js";

const disk = vi.hoisted(() => ({ hasLinks: true }));
vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  const linkSync = (from: string, to: string) => {
    if (!disk.hasLinks) throw Object.assign(new Error("EPERM"), { code: "EPERM", errno: -1, syscall: "link" });
    real.linkSync(from, to);
  };
  return { ...real, linkSync };
});

let root: string;
const at = (name: string) => join(root, name);
beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "nut-name-"));
  fs.writeFileSync(at("temporary"), "ours");
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

describe.each([true, false])("a name on a disk with second names: %s", (hasLinks) => {
  beforeEach(() => {
    disk.hasLinks = hasLinks;
  });

  it("is given when it is free", () => {
    expect(takeName(at("temporary"), at("out"))).toBe(true);
    expect(fs.readdirSync(root)).toEqual(["out"]);
    expect(fs.readFileSync(at("out"), "utf8")).toBe("ours");
  });

  it("is not taken from a file, nor from a link that leads nowhere yet", () => {
    fs.writeFileSync(at("out"), "theirs");
    fs.symlinkSync("later", at("link"));
    expect(takeName(at("temporary"), at("out"))).toBe(false);
    expect(takeName(at("temporary"), at("link"))).toBe(false);
    expect(fs.readFileSync(at("out"), "utf8")).toBe("theirs");
    expect(fs.readlinkSync(at("link"))).toBe("later");
    expect(fs.readFileSync(at("temporary"), "utf8")).toBe("ours");
  });

  it("is free again when the file could not be moved there", () => {
    expect(() => takeName(at("missing"), at("out"))).toThrow(/ENOENT/);
    expect(fs.readdirSync(root)).toEqual(["temporary"]);
  });
});
