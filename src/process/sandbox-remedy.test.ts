import { describe, expect, it } from "vitest";
import { judgeSandbox, type SandboxFacts } from "./sandbox-remedy.js";

const user: SandboxFacts = {
  ...{
    platform: "linux",
    installed: true,
    works: false,
    network: false,
    accounts: false,
    root: false,
    container: false,
  },
  ...{ clone: null, most: "31000", apparmor: null },
};

describe("a machine on which the sandbox does not start", () => {
  it.each<[string, Partial<SandboxFacts>, string, RegExp]>([
    ["without the program", { installed: false }, "none", /^apt install bubblewrap$/],
    ["whose kernel makes no user namespaces", { most: "0" }, "none", /user\.max_user_namespaces=15000$/],
    ["for root too", { most: "0", root: true }, "none", /user\.max_user_namespaces=15000$/],
    ["that keeps them for root", { clone: "0" }, "none", /unprivileged_userns_clone=1$/],
    ["in a container", { container: true, root: true }, "none", /^docker run --security-opt seccomp=unconfined/],
    ["in a container on Ubuntu", { container: true, apparmor: "1" }, "none", /^docker run/],
    ["under Ubuntu's AppArmor", { apparmor: "1" }, "none", /apparmor_parser -r \/etc\/apparmor\.d\/bwrap$/],
    ["for a reason nobody knows", {}, "none", /^bwrap /],
    ["but for its network", { works: true, accounts: true }, "open", /max_net_namespaces/],
    ["but for its network, in a container", { works: true, accounts: true, container: true }, "open", /^docker run/],
    [
      "for root, who is held without accounts",
      { works: true, network: true, root: true, most: "0" },
      "agents",
      /user\.max_user_namespaces=15000$/,
    ],
    ["for root in a container", { works: true, network: true, root: true, container: true }, "agents", /^docker run/],
  ])("is told the remedy: %s", (_, facts, state, fix) => {
    const health = judgeSandbox({ ...user, ...facts });
    expect(health).toMatchObject({ state, fix: expect.stringMatching(fix) });
    expect(health.message).toMatch(/^bubblewrap /);
  });

  it("is told nothing to paste where there is nothing", () => {
    expect(judgeSandbox({ ...user, platform: "darwin", installed: false })).toEqual({
      state: "none",
      message: "bubblewrap is for Linux; there is no sandbox on darwin",
    });
    expect(judgeSandbox({ ...user, works: true, network: true, accounts: true }).state).toBe("held");
  });
});
