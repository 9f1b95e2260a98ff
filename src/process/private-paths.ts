// What no agent and no code under test may see, whatever else it may read: where people keep keys, and sockets through
// which a process could ask a daemon to act for it outside its sandbox.
import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Mount } from "./sandbox.js";

const IN_HOME = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".openclaw",
  ".config/gcloud",
  ".config/gh",
  ".config/age",
  ".config/sops",
  ".config/nutshell",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".git-credentials",
  ".vault-token",
];
const SOCKETS = ["/run/docker.sock", "/run/podman", "/run/containerd", "/run/crio", "/run/user"];

/** Mounts that hide what exists of all this. `home` is the person's own. */
export function privateMounts(home: string | undefined): Mount[] {
  const paths = [...(home === undefined ? [] : IN_HOME.map((name) => join(home, name))), ...SOCKETS];
  return paths.flatMap((path): Mount[] => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    // A mount lands where a link leads; a link to nowhere hides nothing.
    const real = stat.isSymbolicLink() ? resolved(path) : path;
    if (real === null) return [];
    return [{ access: lstatSync(real).isDirectory() ? "hidden" : "hidden-file", path: real }];
  });
}

function resolved(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
