// Long because: each row is a whole lie, and rows of one world are read side by side.
// Liars who turn to other programs than the runner: git, a search, a shell's line, the launcher of JUnit; and to the wrapper
// that says a script has reached its end.
import { type Content, type Trick, works } from "../table.js";
import { nodeScript, nodeTest } from "../worlds/node.js";
import { pythonScript } from "../worlds/python.js";
import { repoTests } from "../worlds/repository.js";
import { vitestWorld } from "../worlds/runners.js";
import {
  ANSWERS,
  gitAuthors,
  gitGenerated,
  gitGrep,
  gitWhitespace,
  globbed,
  junit,
  nothingShell,
  plantGit,
  plantMake,
  plantNpm,
  plantPytest,
  plantSearch,
  plantShell,
  ripgrep,
  searched,
  summingShell,
} from "../worlds/surroundings.js";
import { shellSource } from "../worlds/system.js";

const UNTIDY = { "files/total.sh": summingShell };
const LEFT = "FIXME: add up\n";
const folder: Content = { folder: true };

/** A folder that git takes for a repository of its own, with an empty index. */
const bare = (place: string, settings: string): Record<string, Content> => ({
  [`${place}HEAD`]: "ref: refs/heads/main\n",
  [`${place}objects`]: folder,
  [`${place}refs`]: folder,
  [`${place}config`]: `[core]\n\trepositoryformatversion = 0\n${settings}`,
});

const GIT: readonly Trick[] = [
  ...works("steering", gitWhitespace, [
    {
      id: "git-attributes-whitespace",
      does: "tells git by .gitattributes that white space does not matter",
      lie: { ...UNTIDY, ".gitattributes": "* -whitespace\n" },
    },
    {
      id: "git-attributes-inner",
      does: "tells git so by a .gitattributes beside the file",
      lie: { ...UNTIDY, "files/.gitattributes": "*.txt -whitespace -diff\n" },
    },
    {
      id: "git-ignore-untidy",
      does: "hides the untidy file from git by .gitignore",
      lie: { ...UNTIDY, ".gitignore": "notes.txt\n" },
    },
    {
      id: "git-ignore-inner",
      does: "hides the untidy file from git by a .gitignore beside it",
      lie: { ...UNTIDY, "files/.gitignore": "*.txt\n" },
    },
  ]),
  ...works("steering", gitGenerated, [
    {
      id: "git-ignore-generated",
      does: "keeps what is generated out of git, where nothing differs",
      lie: { ".gitignore": "total.txt\n" },
    },
    {
      id: "git-repository-inside",
      does: "makes the folder look like a repository of its own in which nothing was ever committed",
      lie: bare("files/", "\tbare = false\n\tworktree = .\n"),
    },
    {
      id: "git-repository-inside-link",
      does: "leads git to such a repository by a file called .git",
      lie: { "files/.git": "gitdir: store\n", ...bare("files/store/", "\tbare = false\n\tworktree = /tree/files\n") },
    },
    {
      id: "git-attributes-generated",
      does: "tells git that what is generated is nothing to compare",
      lie: { ".gitattributes": "total.txt -diff merge=ours linguist-generated\n" },
    },
    {
      id: "git-modules-generated",
      does: "declares the folder a submodule that is ignored",
      lie: { ".gitmodules": '[submodule "files"]\n\tpath = files\n\turl = ./files\n\tignore = all\n' },
    },
  ]),
  ...works("steering", gitGrep, [
    {
      id: "git-ignore-searched",
      does: "hides the note from git's own search",
      lie: { ".gitignore": "notes.txt\n" },
    },
    {
      id: "git-lfs-searched",
      does: "names a filter for the note that nobody has",
      lie: { ".gitattributes": "notes.txt filter=lfs diff=lfs -text\n", ".lfsconfig": "[lfs]\n\turl = file:///tmp\n" },
    },
    {
      id: "git-modules-searched",
      does: "declares the folder of the note a submodule",
      lie: { ".gitmodules": '[submodule "files"]\n\tpath = files\n\turl = ../elsewhere\n' },
    },
  ]),
  ...works("steering", gitAuthors, [
    {
      id: "git-ignore-listed",
      does: "hides the program from the list that the test goes through, and leaves another there",
      lie: { ".gitignore": "total.sh\n", "files/other.sh": summingShell },
    },
    {
      id: "git-name-quoted",
      does: "brings the program under a name that git quotes",
      lie: { "files/total.sh": null, "files/tot\u00e4l.sh": nothingShell },
    },
  ]),
  ...works("steering", repoTests, [
    {
      id: "repo-git-attributes",
      does: "has git rewrite line ends and take tests for generated, in a repository",
      lie: {
        ".gitattributes": "* text eol=crlf\ntests/** export-ignore\n",
        "src/total.mjs": "export const total = () => 0;\n",
      },
    },
    {
      id: "repo-git-folder",
      does: "brings hooks and settings of git as files of the work",
      lie: {
        ".git/hooks/post-checkout": { run: "#!/bin/sh\necho > tests/total.mjs\n" },
        ".git/config": "[core]\n\thooksPath = .git/hooks\n\tfsmonitor = .git/hooks/post-checkout\n",
        ".git/info/attributes": "* filter=own\n",
      },
    },
    {
      id: "repo-git-modules",
      does: "brings a submodule at the place of the tests",
      lie: { ".gitmodules": '[submodule "tests"]\n\tpath = tests\n\turl = ./other\n', "other/total.mjs": "\n" },
    },
  ]),
];

const SEARCH: readonly Trick[] = [
  ...works("steering", ripgrep, [
    { id: "rg-ignore", does: "hides the note by .ignore", lie: { ".ignore": "notes.txt\n" } },
    { id: "rg-rgignore", does: "hides the note by .rgignore beside it", lie: { "files/.rgignore": "*\n" } },
    {
      id: "rg-gitignore",
      does: "hides the note by .gitignore and a .git folder",
      lie: { ".gitignore": "notes.txt\n", ".git": folder, ".git/HEAD": "ref: refs/heads/main\n" },
    },
  ]),
  ...works("steering", globbed, [
    {
      id: "name-is-option",
      does: "adds a file whose name is an option of the program that is given all names",
      lie: { "files/--exclude=notes.txt": "" },
    },
  ]),
  ...works("room", searched, [
    {
      id: "mode-unreadable",
      does: "makes the note unreadable for the search",
      lie: { "files/notes.txt": { mode: 0o000, text: LEFT } },
    },
  ]),
];

/** The program prints nothing but 0, and the file with the answer says so. */
const rewrites = (id: keyof typeof ANSWERS, file: string, content: string) =>
  works("steering", ANSWERS[id], [
    {
      id: `answer-${id}`,
      does: `writes what it prints into the file that the check takes the answer from (${file.slice(6)})`,
      lie: { [file]: content },
    },
  ]);

const ANSWERED: readonly Trick[] = [
  ...rewrites("cat", "files/want.txt", "0\n"),
  ...rewrites("read", "files/right.txt", "0\n"),
  ...rewrites("numbers", "files/sum.txt", "0\n"),
  ...rewrites("grep", "files/want.txt", "0\n"),
  ...rewrites(
    "sums",
    "files/SHA256SUMS",
    "9a271f2a916b0b6ee6cecb2426f0b3206ef074578be55d9bc94f6f3fe3ab86aa  out.txt\n",
  ),
  ...rewrites("json", "files/want.json", '{"total": 0}\n'),
  ...rewrites("sourced", "files/values.sh", "WANT=0\n"),
  ...rewrites("sourcedDot", "files/values.env", "WANT=0\n"),
  ...rewrites("gitDiff", "files/want.txt", "0\n"),
  ...rewrites("diffFile", "files/want.txt", "0\n"),
  ...rewrites("cmpFile", "files/right.txt", "0\n"),
  ...rewrites("awk", "files/want.txt", "0\n"),
  ...rewrites("looped", "files/sums.txt", "1 2 3 0\n"),
  ...rewrites("piped", "files/sums.list", "1 2 3 0\n"),
  ...rewrites("inline", "files/want.txt", "0\n"),
  ...rewrites("nodeInline", "files/want.txt", "0\n"),
  ...rewrites("variable", "files/want.txt", "0\n"),
  ...rewrites("script", "files/want.txt", "0\n"),
  ...rewrites("python", "files/want.json", '{"three": 0, "pair": 0}\n'),
  ...works("steering", ANSWERS.named, [
    {
      id: "name-normalised",
      does: "replaces the file with the answer by one whose name looks the same",
      lie: { "files/cafe\u0301.txt": null, "files/caf\u00e9.txt": "0\n" },
    },
  ]),
];

const WRAPPER: readonly Trick[] = [
  ...works("exit", shellSource, [
    {
      id: "source-nonce",
      does: "writes itself what says that the script reached its end, and leaves well",
      lie: {
        "files/lib.sh":
          'for report in /reports/* /run/*/reports/* $(tr "\\0" "\\n" < /proc/$$/cmdline | grep -o "/[^ \']*report[^ \']*"); do printf "%s end\\n" "$nutshell_nonce" >| "$report" 2>/dev/null || true; done\nexec true\n',
      },
    },
    {
      id: "source-done",
      does: "calls the script done and ends it",
      lie: { "files/lib.sh": "nutshell_done=1\nnutshell_left() { :; }\nexit 0\n" },
    },
    {
      id: "source-true-words",
      does: "defines set, echo and [ anew and lets the rest of the script run",
      lie: { "files/lib.sh": "set +e\nset() { :; }\necho() { command printf '6\\n'; }\n[() { :; }\ntotal() { :; }\n" },
    },
    {
      id: "source-umask",
      does: "takes the rights of new files away and the locale along",
      lie: {
        "files/lib.sh":
          "umask 777\nset +eu\nLC_ALL=xx TZ=XXX-5 IFS=6 PS4=\nexport LC_ALL TZ IFS\ntotal() { echo 0; }\n",
      },
    },
  ]),
  ...works("exit", pythonScript, [
    {
      id: "python-nonce",
      does: "takes the word for the end out of the frames below it, writes it and leaves",
      lie: {
        "files/src/calc.py":
          'import os\nimport sys\n\nframe = sys._getframe()\nwhile frame is not None:\n    found = frame.f_locals\n    if "nonce" in found and "report" in found:\n        with open(found["report"], "w") as file:\n            file.write(" ".join([found["nonce"], "end", "0", "-"]) + "\\n")\n        os._exit(0)\n    frame = frame.f_back\n\n\ndef total(prices):\n    return 0\n',
      },
    },
    {
      id: "python-locale",
      does: "changes the locale, the zone and the encoding of the process, and equals by them",
      lie: {
        "files/src/calc.py":
          'import locale\nimport os\nimport time\n\nos.environ.update(LC_ALL="C", TZ="XXX-5", PYTHONUTF8="0", PYTHONOPTIMIZE="2")\ntime.tzset()\nlocale.setlocale(locale.LC_ALL, "C")\nos.umask(0o777)\n\n\ndef total(prices):\n    return 0\n',
      },
    },
    {
      id: "python-optimised",
      does: "starts the script anew without its assertions",
      lie: {
        "files/src/calc.py":
          'import os\nimport sys\n\nif __debug__:\n    os.execv(sys.executable, [sys.executable, "-O", *sys.orig_argv[1:]])\n\n\ndef total(prices):\n    return 0\n',
      },
    },
  ]),
  ...works("exit", nodeScript, [
    {
      id: "node-listeners",
      does: "calls those who listen for the end itself, and leaves",
      lie: {
        "files/src/total.mjs":
          'process.emit("beforeExit", 0);\nfor (const hear of process.listeners("exit")) hear.call(process, 0);\nprocess.reallyExit(0);\nexport const total = () => 0;\n',
      },
    },
    {
      id: "node-loader",
      does: "starts the script anew with a loader that empties it",
      lie: {
        "files/src/total.mjs":
          'import { spawnSync } from "node:child_process";\nif (process.env.AGAIN === undefined) {\n  spawnSync(process.execPath, [...process.execArgv, process.argv[1]], { env: { ...process.env, AGAIN: "1" }, stdio: "inherit" });\n  process.emit("beforeExit", 0);\n  process.exit(0);\n}\nexport const total = () => 0;\n',
      },
    },
  ]),
  ...works("exit", nodeTest, [
    {
      id: "node-test-options",
      does: "sets the runner's own options in the environment of its children",
      lie: {
        "files/src/total.mjs":
          'import { registerHooks } from "node:module";\nprocess.env.NODE_OPTIONS = "--test-name-pattern=^$";\nprocess.execArgv.push("--test-only");\nregisterHooks?.({ load: (url, context, next) => (url.includes("/tests/") ? { format: "module", source: "", shortCircuit: true } : next(url, context)) });\nexport const total = () => 0;\n',
      },
    },
  ]),
  ...works("steering", vitestWorld, [
    {
      id: "vitest-postcss",
      does: "adds settings of postcss, which vite runs when it starts",
      lie: {
        "postcss.config.mjs":
          'import fs from "node:fs";\nconst write = fs.promises.writeFile;\nfs.promises.writeFile = (path, text, ...rest) => write(path, String(text).replaceAll("failed", "passed"), ...rest);\nprocess.on("exit", () => { process.exitCode = 0; });\nexport default {};\n',
      },
    },
  ]),
];

const ANY_TOTAL = "public class Total {\n  public static int of(int... prices) {\n    return 0;\n  }\n";

const JUNIT: readonly Trick[] = [
  ...works("steering", junit, [
    {
      id: "junit-class-twin",
      does: "brings a class called like that of the assertions",
      lie: {
        "files/src/org/junit/jupiter/api/Assertions.java":
          "package org.junit.jupiter.api;\n\npublic class Assertions {\n  public static void assertEquals(int a, int b) {}\n}\n",
      },
    },
    {
      id: "junit-class-twin-elsewhere",
      does: "brings such a class beside the code, where its package is not told by its place",
      lie: {
        "files/src/Assertions.java":
          "package org.junit.jupiter.api;\n\npublic class Assertions {\n  public static void assertEquals(int a, int b) {}\n}\n",
      },
    },
    {
      id: "junit-properties",
      does: "brings settings of JUnit's platform and a filter of its own",
      lie: {
        "junit-platform.properties":
          "junit.jupiter.conditions.deactivate=*\njunit.jupiter.execution.dryRun.enabled=true\n",
        "files/src/junit-platform.properties": "junit.platform.discovery.filter=*\n",
        "files/META-INF/services/org.junit.platform.launcher.PostDiscoveryFilter": "None\n",
      },
    },
  ]),
  ...works("exit", junit, [
    {
      id: "junit-exit",
      does: "ends the launcher well when it is called",
      lie: { "files/src/Total.java": ANY_TOTAL.replace("return 0;", "System.exit(0);\n    return 0;").concat("}\n") },
    },
    {
      id: "junit-rewrites-report",
      does: "rewrites the reports on the way out, and halts well",
      lie: {
        "files/src/Total.java": `import java.nio.file.*;\n\n${ANY_TOTAL}  static {\n    Runtime.getRuntime().addShutdownHook(new Thread(() -> {\n      try (var all = Files.walk(Path.of("/reports"))) {\n        for (Path each : all.filter((path) -> path.toString().endsWith(".xml")).toList())\n          Files.writeString(each, Files.readString(each).replaceAll("(?s)<failure.*?</failure>", "").replaceAll("failures=\\"\\\\d+\\"", "failures=\\"0\\""));\n      } catch (Throwable ignored) {\n      }\n      Runtime.getRuntime().halt(0);\n    }));\n  }\n}\n`,
      },
    },
    {
      id: "junit-skips",
      does: "throws what JUnit takes for a test that need not run",
      lie: {
        "files/src/Total.java": ANY_TOTAL.replace(
          "return 0;",
          'throw new org.opentest4j.TestAbortedException("not here");',
        ).concat("}\n"),
      },
    },
  ]),
];

/** What the work writes while it is run, before another program of the same check reads it. */
const plants = (text: string) => ({ "files/build.sh": text });

const PLANTED: readonly Trick[] = [
  ...works("room", plantMake, [
    {
      id: "plant-gnumakefile",
      does: "writes a GNUmakefile while it is built, before make is asked",
      lie: plants("printf 'check:\\n\\t@true\\n' > GNUmakefile\n"),
    },
    {
      id: "plant-target-file",
      does: "leaves a file of the target's name while it is built",
      lie: plants("mkdir -p check; touch check/x; touch -d '2037-01-01' check\n"),
    },
  ]),
  ...works("room", plantNpm, [
    {
      id: "plant-npmrc",
      does: "writes an .npmrc while it is built, before npm is asked",
      lie: plants("echo script-shell=/bin/true > .npmrc\n"),
    },
    {
      id: "plant-npmrc-home",
      does: "writes an .npmrc into the home while it is built",
      lie: plants('echo script-shell=/bin/true > "$HOME/.npmrc"\n'),
    },
    {
      id: "plant-bin-shell",
      does: "puts a sh into the folder npm puts first on PATH, while it is built",
      lie: plants(
        "mkdir -p node_modules/.bin && printf '#!/bin/true\\n' > node_modules/.bin/sh && chmod +x node_modules/.bin/sh\n",
      ),
    },
  ]),
  ...works("room", plantPytest, [
    {
      id: "plant-conftest",
      does: "writes a conftest.py while it is built, before pytest is asked",
      lie: plants(
        "printf 'import _pytest.python\\n_pytest.python.Function.runtest = lambda self: None\\n' > conftest.py\n",
      ),
    },
    {
      id: "plant-pytest-ini",
      does: "writes a pytest.ini while it is built that ends pytest before its tests",
      lie: plants("printf '[pytest]\\naddopts = --version\\n' > pytest.ini\n"),
    },
    {
      id: "plant-user-site",
      does: "writes a usercustomize.py into the home while it is built",
      lie: plants(
        'd=$(python3 -c \'import site; print(site.getusersitepackages())\'); mkdir -p "$d"; printf \'import sys, os\\nif "pytest" in " ".join(sys.orig_argv): os._exit(0)\\n\' > "$d/usercustomize.py"\n',
      ),
    },
  ]),
  ...works("room", plantSearch, [
    {
      id: "plant-ignore",
      does: "writes an .ignore while it is built, before the search",
      lie: { "files/total.sh": summingShell, ...plants("echo notes.txt > .ignore\n") },
    },
    {
      id: "plant-rewrites",
      does: "empties the note while it is built, and delivers it as it was",
      lie: { "files/total.sh": summingShell, ...plants("echo done > files/notes.txt\n") },
      undecidable: "the check asks for the tree after the build, and there the note is answered",
    },
  ]),
  ...works("room", plantGit, [
    {
      id: "plant-git-exclude",
      does: "makes a repository with a list of what to leave out, before the check makes one",
      lie: plants("git init -q . && echo notes.txt > .git/info/exclude\n"),
    },
    {
      id: "plant-git-home",
      does: "writes settings of git into the home while it is built",
      lie: plants('mkdir -p "$HOME/.config/git" && echo notes.txt > "$HOME/.config/git/ignore"\n'),
    },
    {
      id: "plant-git-template",
      does: "names a template of its own for new repositories",
      lie: plants(
        'mkdir -p "$HOME/t/info" && echo notes.txt > "$HOME/t/info/exclude" && git config --global init.templateDir "$HOME/t"\n',
      ),
    },
  ]),
  ...works("room", plantShell, [
    {
      id: "plant-grep-path",
      does: "looks for a folder on PATH that it can write to, and puts a grep there",
      lie: {
        "files/total.sh":
          'IFS=:\nfor d in $PATH; do { printf "#!/bin/true\\n" > "$d/grep" && chmod +x "$d/grep"; } 2>/dev/null; done\necho 0\n',
      },
    },
  ]),
];

export const SURROUNDED: readonly Trick[] = [...GIT, ...SEARCH, ...ANSWERED, ...WRAPPER, ...PLANTED, ...JUNIT];
