import { describe, expect, it } from "vitest";
import { placesOf } from "./find-program.js";

describe("places of a program", () => {
  it("are the folders of PATH, relative ones aside", () => {
    expect(placesOf("git", { PATH: "/usr/bin:bin:.:/opt/x" }, "/w", "linux")).toEqual(["/usr/bin/git", "/opt/x/git"]);
    expect(placesOf("./run", { PATH: "/usr/bin" }, "/w", "linux")).toEqual(["/w/run"]);
  });

  it("on Windows: an absolute node.exe is itself, and a name is tried with every ending", () => {
    expect(placesOf("C:\\node\\node.exe", {}, "C:\\w", "win32")[0]).toBe("C:\\node\\node.exe");
    expect(placesOf("C:/node/node.exe", {}, "C:\\w", "win32")[0]).toBe("C:\\node\\node.exe");
    expect(placesOf("bin\\run.cmd", {}, "C:\\w", "win32")[0]).toBe("C:\\w\\bin\\run.cmd");
    expect(placesOf("codex", { Path: "C:\\a;b;D:\\c", PATHEXT: ".EXE;.CMD" }, "C:\\w", "win32")).toEqual([
      "C:\\a\\codex",
      "C:\\a\\codex.exe",
      "C:\\a\\codex.cmd",
      "D:\\c\\codex",
      "D:\\c\\codex.exe",
      "D:\\c\\codex.cmd",
    ]);
  });
});
