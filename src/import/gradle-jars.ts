// What a Gradle build names beside JUnit and AssertJ, as a script that takes it from where distributions keep jars for Maven.

const REPOSITORY = "/usr/share/maven-repo";
const NAMED = /^\s*(?:testI|i)mplementation[ (]+["']([\w.-]+):([\w.-]+):([\w.+-]+)["']/gm;
/** The check brings these itself. */
const OF_THE_CHECK = /^org\.(?:junit|assertj|hamcrest)(?:\.|$)/;

export interface GradleJars {
  readonly script: string;
  /** As they are named there, with the version. */
  readonly named: readonly string[];
}

/** null when it names none. */
export function gradleJars(build: string): GradleJars | null {
  const found = [...build.matchAll(NAMED)].filter(([, group]) => !OF_THE_CHECK.test(group!));
  if (found.length === 0) return null;
  const places = found.map(([, group, artifact]) => `${group!.replaceAll(".", "/")}/${artifact}`);
  const script = [
    "#!/bin/sh",
    "# Jars that build.gradle names, as the machine has them. Made by nutshell import.",
    "set -e",
    "mkdir -p .cache/jars",
    `for place in ${[...new Set(places)].sort().join(" ")}; do`,
    `  jar=$(find "${REPOSITORY}/$place" -name '*-[0-9]*.jar' 2>/dev/null | sort -V | tail -n 1)`,
    `  if [ -z "$jar" ]; then echo "$place is not in ${REPOSITORY}" >&2; exit 1; fi`,
    `  cp -L "$jar" .cache/jars/`,
    "done",
    "",
  ].join("\n");
  return { script, named: found.map(([, ...parts]) => parts.join(":")) };
}
