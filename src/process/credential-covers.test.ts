// What lies beside installed programs and is nobody else's business.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { programMounts } from "./visible-system.js";

let place = "";
const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(place, file)), { recursive: true });
  writeFileSync(join(place, file), text);
};
const put = (...files: string[]): void => {
  for (const file of files) write(file, "//registry.example/:_authToken=secret");
};
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "nut-covers-"));
  mkdirSync(join(place, "home"));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** What a sandbox shows below the place when these folders are on PATH, and what of it is covered. */
function seen(...path: string[]) {
  const folders = path.map((name) => join(place, name));
  const mounts = programMounts({ env: { PATH: folders.join(":"), HOME: join(place, "home") } });
  const below = mounts.filter((mount) => mount.path.startsWith(place));
  const named = (isWanted: (access: string) => boolean) =>
    below.filter(({ access }) => isWanted(access)).map((mount) => mount.path.slice(place.length + 1));
  return {
    shown: named((access) => access === "read-only"),
    covered: named((access) => access.startsWith("hidden")).sort(),
  };
}

describe("what lies beside an installation", () => {
  it("is no home of another person's, of which its programs alone are shown", () => {
    put("alice/bin/tool", "alice/node_modules/x", "alice/.ssh/id_rsa", "alice/.netrc");
    expect(seen("alice/bin")).toEqual({ shown: ["alice/bin"], covered: [] });
  });

  it("is covered where it holds credentials: beside the programs and in their settings", () => {
    put("node/bin/npm", "node/lib/x", "node/etc/npmrc", "node/etc/certs.pem", "node/.npmrc", "node/.netrc");
    put("node/pip.conf", "node/id_ed25519", "node/var/postgres/data", "node/etc/gitconfig");
    expect(seen("node/bin")).toEqual({
      shown: ["node"],
      covered: ["etc/gitconfig", "etc/npmrc", ".netrc", ".npmrc", "id_ed25519", "pip.conf", "var"]
        .map((name) => `node/${name}`)
        .sort(),
    });
  });

  it("stays where settings hold no login", () => {
    write("plain/etc/npmrc", "cafile=/etc/ssl/certs/ca-certificates.crt");
    write("plain/conf/settings.xml", "<settings><!-- <password>x</password> --></settings>");
    put("plain/bin/x", "plain/lib/x");
    expect(seen("plain/bin")).toEqual({ shown: ["plain"], covered: [] });
  });

  it("is covered for every version a manager keeps", () => {
    put(".pyenv/shims/python", ".pyenv/versions/3.12/bin/python", ".pyenv/versions/3.12/pip.conf");
    expect(seen(".pyenv/shims").covered).toEqual([".pyenv/versions/3.12/pip.conf"]);
    put(".asdf/shims/node", ".asdf/installs/nodejs/20/bin/node", ".asdf/installs/nodejs/20/etc/npmrc");
    expect(seen(".asdf/shims").covered).toEqual([".asdf/installs/nodejs/20/etc/npmrc"]);
  });

  it("is covered where a link leads", () => {
    put("linked/bin/x", "linked/lib/x", "linked/real.conf");
    symlinkSync("real.conf", join(place, "linked/.npmrc"));
    expect(seen("linked/bin").covered).toEqual(["linked/real.conf"]);
  });

  it("is the settings of Maven, which are not there at all, and all beside them is", () => {
    put("maven/bin/mvn", "maven/lib/x", "maven/conf/settings.xml", "maven/conf/logging/simplelogger.properties");
    expect(seen("maven/bin")).toEqual({ shown: ["maven", "maven/conf/logging"], covered: ["maven/conf"] });
  });

  it("is the history of a project that a program is linked from", () => {
    put("project/package.json", "project/dist/cli.js", "project/.git/config");
    mkdirSync(join(place, "links"));
    symlinkSync(join(place, "project/dist/cli.js"), join(place, "links/tool"));
    expect(seen("links")).toEqual({ shown: ["links", "project"], covered: ["project/.git"] });
  });

  it("is a program, whatever it is called", () => {
    put("tools/bin/detect-secrets", "tools/bin/git-credential");
    expect(seen("tools/bin")).toEqual({ shown: ["tools/bin"], covered: [] });
  });
});
