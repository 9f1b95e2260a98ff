// JUnit on Java: through Maven or Gradle where the project has them, else compiled here and run by JUnit's own launcher.
import type { TestResult } from "../model.js";
import { declaredTests } from "./declared.js";
import { type Declared, skipped, testId, testsOutcome } from "./outcomes.js";
import type { Prepare, Preparing } from "./prepare.js";
import { joined } from "./recognise.js";
import type { PreparedRun, ReadRun, RunnerRoom, TreeView } from "./runner.js";
import { isAssertionCase, readXmlCases } from "./xml.js";

/** Where distributions put them. */
const JAVA_FOLDER = "/usr/share/java";
const JARS =
  "apiguardian-api assertj-core byte-buddy hamcrest hamcrest-core junit4 junit-jupiter-api junit-jupiter-engine junit-jupiter-params junit-platform-commons junit-platform-console junit-platform-engine junit-platform-launcher junit-platform-reporting junit-vintage-engine opentest4j opentest4j-reporting-events opentest4j-reporting-schema picocli univocity-parsers";

/** Where an installation may put more. They come last: none stands before JUnit's own. */
const INSTALLED = ".cache/jars";

export const prepareJUnit: Prepare = async (preparing) => {
  const { view, recognised, room } = preparing;
  const { cwd } = recognised;
  if (view.exists(joined(cwd, "pom.xml")))
    return built(preparing, "mvn", ["-B", "-o", "test"], "target/surefire-reports/");
  if (view.exists(joined(cwd, "build.gradle")) || view.exists(joined(cwd, "build.gradle.kts")))
    return built(preparing, "gradle", ["--offline", "test"], "build/test-results/test/");
  for (const program of ["javac", "java"])
    if (room.findProgram(program) === null) return skipped(`${program} is not installed`);
  const jars = await classPath(view, room);
  if (jars === null) return skipped("junit is not installed");
  const classes = `${room.reports}/classes`;
  const reports = `${room.reports}/junit/`;
  // A compiler that lives for a second is not worth optimising: it takes half the processor time without.
  const launch = `javac -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -nowarn -d "$1" -cp "$2" $(cat "$4") >&2 && exec java -cp "$1:$2" org.junit.platform.console.ConsoleLauncher --disable-banner --details=tree --scan-classpath="$1" --reports-dir="$3"`;
  const sources = javaSources(view, cwd);
  // The list of sources goes through a file of its own: it may be longer than an argument.
  const script = `list="$3/sources"; mkdir -p "$3" "$1"; cat >"$list"; set -- "$1" "$2" "$3" "$list"; ${launch}`;
  return {
    command: "sh",
    args: ["-c", script, "sh", classes, jars, reports.slice(0, -1)],
    cwd,
    stdin: { text: `${sources.map((path) => path.replaceAll(" ", "\\ ")).join("\n")}\n` },
    ...reading(preparing, reports),
  };
};

function reading(
  { recognised, view, room }: Preparing,
  reports: string,
): Pick<PreparedRun, "reportFiles" | "forgeable" | "reading"> {
  const declared = javaDeclared(declaredTests(recognised, view));
  return {
    reportFiles: [reports],
    forgeable: true,
    reading: { tree: room.tree, cwd: recognised.cwd, declared, read: readJUnit },
  };
}

function built(preparing: Preparing, program: string, args: readonly string[], reports: string) {
  const { room, recognised } = preparing;
  if (room.findProgram(program) === null) return skipped(`${program} is not installed`);
  return {
    command: "sh",
    // A report from before is nobody's.
    args: ["-c", 'rm -rf "$1"; shift; exec "$@"', "sh", reports.slice(0, -1), program, ...args],
    cwd: recognised.cwd,
    ...reading(preparing, `${room.tree}/${joined(recognised.cwd, reports)}/`),
  };
}

async function classPath(view: TreeView, room: RunnerRoom): Promise<string | null> {
  const jarsIn = (folder: string) =>
    view
      .list(folder)
      .filter((name) => name.endsWith(".jar"))
      .map((name) => `${room.tree}/${folder}/${name}`);
  const own = ["lib", "libs"].flatMap(jarsIn);
  if (own.some((path) => path.includes("junit-platform-console-standalone"))) return own.join(":");
  if (!(await room.answers("test", ["-f", `${JAVA_FOLDER}/junit-platform-console.jar`]))) return null;
  return [...own, ...JARS.split(" ").map((name) => `${JAVA_FOLDER}/${name}.jar`), ...jarsIn(INSTALLED)].join(":");
}

function javaSources(view: TreeView, folder: string, depth = 0): string[] {
  return view.list(folder).flatMap((name) => {
    const path = joined(folder, name);
    if (name.endsWith("/"))
      return depth < 12 && !/^(?:build|target|node_modules|\.git)\/$/.test(name)
        ? javaSources(view, path, depth + 1)
        : [];
    return name.endsWith(".java") ? [path] : [];
  });
}

/** In whichever package. */
const javaDeclared = (declared: readonly Declared[]): Declared[] =>
  declared.map((each) => ({ ...each, id: `\0${each.id.slice(each.id.indexOf(" > "))}` }));

const readJUnit: ReadRun = (check, { reading: { declared = [] } }, result, reports) => {
  const tests: TestResult[] = [...reports.values()].flatMap((bytes) =>
    readXmlCases(Buffer.from(bytes).toString("utf8")).map((each) => {
      const dot = each.className.lastIndexOf(".");
      const id = testId(dot < 0 ? "java" : each.className.slice(0, dot), [
        each.className.slice(dot + 1),
        each.name.replace(/\(.*?\)/, ""),
      ]);
      if (each.status === "passed" || each.status === "skipped") return { id, status: each.status };
      return { id, status: "failed", assertion: isAssertionCase({ ...each, status: "failed" }) };
    }),
  );
  const broken = reports.size === 0 ? "no report was written" : null;
  return testsOutcome(check, result, { tests, broken }, declared);
};
