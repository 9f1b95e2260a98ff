import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Disk, findRoot } from "./find-root.js";
import { currentBranch, NO_BRANCH } from "./git-branch.js";

const ME = 1000;
const OTHER = 2000;

interface Row {
  readonly owner?: number;
  readonly device?: number;
  readonly folder?: boolean;
  readonly text?: string;
}

/** Folders exist wherever they are asked for; marks only where a row says so. */
function disk(rows: Readonly<Record<string, Row>>, user: number | undefined = ME): Disk {
  return {
    user,
    look(path) {
      const row = rows[path];
      if (row === undefined && /\.(?:git|nexus)$/.test(path)) return null;
      const device = row?.device ?? (path.startsWith("/mnt/disk") ? 2 : 1);
      return { owner: row?.owner ?? ME, device, folder: row?.folder ?? true };
    },
    text: (path) => rows[path]?.text,
    names: () => [],
  };
}

describe("findRoot", () => {
  it("is the nearest mark, a work tree's top before a .nexus above it", () => {
    const rows = { "/a/.nexus": {}, "/a/b/.git": { folder: false } };
    expect(findRoot("/a/b/c/d", {}, disk(rows))).toBe("/a/b");
    expect(findRoot("/a/x", {}, disk(rows))).toBe("/a");
    expect(findRoot("/z/y", {}, disk(rows))).toBe("/z/y");
    expect(findRoot("/a/x", {}, disk({ "/a/.nexus": { folder: false } }))).toBe("/a/x");
  });

  it("is what the environment says, first of all", () => {
    expect(findRoot("/a", { NEXUS_PROJECT_DIR: "../b" }, disk({ "/a/.git": {} }))).toBe("/b");
    expect(findRoot("/a/c", { NEXUS_PROJECT_DIR: "" }, disk({ "/a/.git": {} }))).toBe("/a");
  });

  it.each([".git", ".nexus"])("does not believe another user's %s in a folder above", (mark) => {
    const planted = { [`/tmp/${mark}`]: { owner: OTHER } };
    expect(findRoot("/tmp/mine/deep", {}, disk(planted))).toBe("/tmp/mine/deep");
    expect(findRoot("/tmp/mine/deep", {}, disk({ ...planted, "/.git": { owner: 0 } }))).toBe("/");
    expect(findRoot("/tmp/mine/deep", {}, disk({ [`/tmp/${mark}`]: { owner: 0 } }))).toBe("/tmp");
    expect(findRoot("/tmp/mine/deep", {}, disk(planted, OTHER))).toBe("/tmp");
  });

  it("believes only its own to root, too", () => {
    expect(findRoot("/srv/x", {}, disk({ "/srv/.git": { owner: ME } }, 0))).toBe("/srv/x");
    expect(findRoot("/srv/x", {}, disk({ "/srv/.git": { owner: 0 } }, 0))).toBe("/srv");
  });

  it("takes the folder it stands in for what it is, whoever made it", () => {
    const rows = { "/shared/.git": { owner: OTHER }, "/.git": { owner: 0 } };
    expect(findRoot("/shared", {}, disk(rows))).toBe("/shared");
  });

  it("believes any where users have no numbers", () => {
    const windows: Disk = { ...disk({ "/a/.git": { owner: OTHER } }), user: undefined };
    expect(findRoot("/a/b", {}, windows)).toBe("/a");
  });

  it("does not climb past the home's parent", () => {
    const rows = { "/.git": { owner: 0 } };
    expect(findRoot("/home/me/x", { HOME: "/home/me" }, disk(rows))).toBe("/home/me/x");
    expect(findRoot("/home/me/x", {}, disk(rows))).toBe("/");
    expect(findRoot("/home/me/x", { HOME: "/home/me" }, disk({ "/home/.git": { owner: 0 } }))).toBe("/home");
    expect(findRoot("/srv/x", { HOME: "/home/me" }, disk(rows))).toBe("/");
  });

  it("does not climb past a mount of somebody else's", () => {
    const above = { "/mnt/.git": { owner: 0 } };
    expect(findRoot("/mnt/disk/x", {}, disk(above))).toBe("/mnt");
    expect(findRoot("/mnt/disk/x", {}, disk({ ...above, "/mnt/disk": { owner: OTHER, device: 2 } }))).toBe(
      "/mnt/disk/x",
    );
    expect(findRoot("/mnt/disk/x", {}, disk({ ...above, "/mnt": { owner: OTHER } }))).toBe("/mnt/disk/x");
  });
});

describe("findRoot on a real disk", () => {
  const base = mkdtempSync(join(tmpdir(), "nut-root-"));
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it("sees who owns a mark (needs root, to make one of somebody else's)", ({ skip }) => {
    if (process.getuid?.() !== 0) skip("not root");
    const mine = join(base, "mine/deep");
    mkdirSync(mine, { recursive: true });
    mkdirSync(join(base, ".git"));
    writeFileSync(join(base, ".git/HEAD"), "ref: refs/heads/theirs\n");
    expect(findRoot(mine)).toBe(base);
    expect(currentBranch(mine)).toBe("theirs");
    chownSync(join(base, ".git"), 12345, 12345);
    expect(findRoot(mine)).toBe(mine);
    expect(currentBranch(mine)).toBe(NO_BRANCH);
    mkdirSync(join(base, ".nexus"));
    expect(findRoot(mine)).toBe(base);
    chownSync(join(base, ".nexus"), 12345, 12345);
    expect(findRoot(mine)).toBe(mine);
    expect(findRoot(base)).toBe(base);
  });
});
