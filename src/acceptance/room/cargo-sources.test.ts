import { parse } from "@decimalturn/toml-patch";
import { describe, expect, it } from "vitest";
import { systemSources } from "./cargo-sources.js";

const DEBIAN =
  '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n';

describe("cargo's sources in a room", () => {
  it("are those that a folder of the system's stands for, and nothing else of the settings", () => {
    const more = '[registry]\ntoken = "secret"\n[build]\nrustc-wrapper = "/usr/bin/true"\n';
    const text = systemSources(`${DEBIAN}${more}`);
    expect(parse(text!)).toEqual({
      source: { "crates-io": { "replace-with": "debian" }, debian: { directory: "/usr/share/cargo/registry" } },
    });
  });

  it.each([
    ["", "nothing"],
    ["[source", "no settings"],
    [DEBIAN.replace("/usr/share/cargo/registry", "/home/ada/vendor"), "a folder no room shows"],
    [DEBIAN.replace("/usr/share/cargo", "/usr/../home/ada"), "a way out of the system's folders"],
    [
      '[source.crates-io]\nreplace-with = "here"\n[source.here]\nregistry = "sparse+https://crates.example/"\n',
      "a host",
    ],
  ])("%j: %s", (settings) => {
    expect(systemSources(settings)).toBeNull();
  });
});
