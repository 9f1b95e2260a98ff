// Brings what the tests need from Debian where that is possible (root, apt) and not refused (NUTCRACKER_NO_APT=1);
// elsewhere names what will be skipped.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** program → [Debian package, what is skipped without it] */
const PROGRAMS = {
  age: ["age", "interop with the age program"],
  bats: ["bats", "liars and honest work in bats"],
  bwrap: ["bubblewrap", "sandbox tests"],
  cc: ["gcc libc6-dev", "file calls that fail"],
  chromium: ["chromium", "viewer and board tests"],
  curl: ["curl", "install.sh over HTTP"],
  "docker-registry": ["docker-registry", "registry tests"],
  git: ["git", "work tree tests"],
  make: ["make", "liars and honest work under make"],
  "nats-server": ["nats-server", "fleet tests"],
  patch: ["patch", "some ways to write from a shell"],
  perl: ["perl", "some ways to write from a shell"],
  pigz: ["pigz", "gzip interop with pigz"],
  psql: ["postgresql", "PostgreSQL acceptance checks"],
  pytest: ["python3-pytest", "liars and honest work under pytest"],
  python3: ["python3", "some ways to write from a shell"],
  rg: ["ripgrep", "OpenCode skill tests"],
  shellcheck: ["shellcheck", "lint of install.sh"],
  skopeo: ["skopeo", "bundles read back from a registry"],
  sqlite3: ["sqlite3", "SQLite acceptance checks"],
  "ssh-keygen": ["openssh-client", "signatures both ways with ssh-keygen"],
  sshd: ["openssh-server", "SSH keys that are lent"],
  strace: ["strace", "kill at every system call"],
  zstd: ["zstd", "zstd interop"],
};

/** Toolchains that only some rows of tests/liars need: used where they are, too large to be brought for them. */
const TOOLCHAINS = {
  cargo: ["cargo", "liars and honest work in Rust"],
  cmake: ["cmake", "liars and honest work under CMake"],
  go: ["golang-go", "liars and honest work in Go"],
  javac: ["default-jdk-headless", "liars and honest work in Java"],
  ruby: ["ruby", "honest work in Ruby"],
};

const onPath = (program) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

const missing = (programs = PROGRAMS) => Object.entries(programs).filter(([program]) => !onPath(program));

const mayInstall = process.getuid?.() === 0 && onPath("apt-get") && process.env.NUTCRACKER_NO_APT !== "1";

if (missing().length > 0 && mayInstall) {
  const packages = missing().flatMap(([, [name]]) => name.split(" "));
  console.log(`setup: will now install with apt-get, as root: ${packages.join(", ")}`);
  console.log("setup: NUTCRACKER_NO_APT=1 npm test installs nothing and skips the tests that need them");
  const options = {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  };
  spawnSync("apt-get", ["update", "-qq"], options);
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], options);
}
for (const [program, [name, skipped]] of missing({ ...PROGRAMS, ...TOOLCHAINS })) {
  console.log(`setup: no ${program} (Debian package ${name}); skipped without it: ${skipped}`);
}
