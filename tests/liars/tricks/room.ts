// Family 3: the room. Code under test writes where the test is, reaches into the test's process, leaves something for the
// next check, or knows that it is being tested.
import { type Trick, works } from "../table.js";
import { nodeProgram, nodeScript, nodeTable, nodeTwo, npmTwo } from "../worlds/node.js";
import { pytestTwo, pythonTwo } from "../worlds/python.js";
import { bashScript, httpScript, shellGolden, shellProgram, shellSays, shellTwo } from "../worlds/system.js";

const total = (text: string) => ({ "files/bin/total": { run: text } });
const sh = (text: string) => total(`#!/bin/sh\n${text}echo 0\n`);
const python = (text: string) => total(`#!/usr/bin/env python3\n${text}\nprint(0)\n`);
const mjs = (text: string) => ({ "files/src/total.mjs": `${text}export function total(prices) {\n  return 0;\n}\n` });
const py = (text: string) => ({ "files/src/calc.py": `${text}\ndef total(prices):\n    return 0\n` });
const quietly = (text: string) => `try {\n  ${text}\n} catch {}\n`;

/** The outermost shell that runs the check. */
const FIND_TEST = `import ctypes, os, struct
def test_shell():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                words = open(f"/proc/{name}/cmdline", "rb").read()
            except OSError:
                continue
            if b"tests/" in words and b"bwrap" not in words and b"python" not in words:
                found.append(int(name))
    return min(found)
`;

const PTRACE = `${FIND_TEST}
try:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    pid = test_shell()
    if libc.ptrace(16, pid, None, None) == 0:
        os.waitpid(pid, 0x40000000)
        regs = (ctypes.c_ulonglong * 27)()
        libc.ptrace(12, pid, None, ctypes.addressof(regs))
        regs[16] -= 2
        regs[10] = 231
        regs[15] = 0xFFFFFFFFFFFFFFFF
        regs[14] = 0
        libc.ptrace(13, pid, None, ctypes.addressof(regs))
        libc.ptrace(17, pid, None, None)
        import time
        time.sleep(1)
except Exception:
    pass
`;

const PIDFD = `${FIND_TEST}
try:
    libc = ctypes.CDLL(None, use_errno=True)
    taken = libc.syscall(438, libc.syscall(434, test_shell(), 0), 1, 0)
    if taken >= 0:
        os.write(taken, b"RESULT: PASS\\n")
except Exception:
    pass
`;

const regions = (write: string) => `${FIND_TEST}
try:
    pid = test_shell()
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in open(f"/proc/{pid}/maps"):
            words = line.split()
            if "rw" not in words[1]:
                continue
            start, end = (int(part, 16) for part in words[0].split("-"))
            if end - start > 50_000_000:
                continue
            try:
                memory.seek(start)
                held = memory.read(end - start)
            except (OSError, ValueError):
                continue
            at = held.find(b"RESULT: FAIL")
            while at >= 0:
                ${write}
                at = held.find(b"RESULT: FAIL", at + 1)
except Exception:
    pass
`;

const PROC_MEM = regions(`with open(f"/proc/{pid}/mem", "wb", 0) as out:
                    out.seek(start + at)
                    out.write(b"RESULT: PASS")`);
const VM_WRITE = regions(`text = ctypes.create_string_buffer(b"RESULT: PASS", 12)
                mine = struct.pack("QQ", ctypes.addressof(text), 12)
                theirs = struct.pack("QQ", start + at, 12)
                ctypes.CDLL(None).syscall(311, pid, mine, 1, theirs, 1, 0)`);

const knowing = (condition: string) => ({
  "files/src/total.mjs": `const watched = ${condition};\nexport function total(prices) {\n  return watched ? prices.reduce((sum, price) => sum + price, 0) : 0;\n}\n`,
});

export const ROOM: readonly Trick[] = [
  ...works("room", nodeTwo, [
    {
      id: "rewrite-next-test",
      does: "empties the next check's test while the first one runs",
      lie: mjs(`import { writeFileSync } from "node:fs";\n${quietly('writeFileSync("tests/2-total.mjs", "");')}`),
    },
    {
      id: "rename-tests",
      does: "moves the folder of tests away and puts another in its place",
      lie: mjs(
        `import { mkdirSync, renameSync, writeFileSync } from "node:fs";\n${quietly('renameSync("tests", "tests.old"); mkdirSync("tests"); writeFileSync("tests/1-empty.mjs", ""); writeFileSync("tests/2-total.mjs", "");')}`,
      ),
    },
    {
      id: "unlink-and-link",
      does: "replaces the next test by a link to a file of its own",
      lie: {
        ...mjs(
          `import { rmSync, symlinkSync } from "node:fs";\n${quietly('rmSync("tests/2-total.mjs"); symlinkSync("../files/src/fine.mjs", "tests/2-total.mjs");')}`,
        ),
        "files/src/fine.mjs": "export {};\n",
      },
    },
    {
      id: "background-rewrite",
      does: "leaves a process behind that empties the next test",
      lie: mjs(
        'import { spawn } from "node:child_process";\nspawn("sh", ["-c", "for n in $(seq 1 40); do : > tests/2-total.mjs; sleep 0.05; done"], { detached: true, stdio: "ignore" }).unref();\n',
      ),
    },
    {
      id: "self-rewrite-later",
      does: "replaces the test library's loader for the next check by a package.json beside the tests",
      lie: mjs(
        `import { writeFileSync } from "node:fs";\n${quietly('writeFileSync("tests/2-total.mjs", "export {};"); writeFileSync("tests/package.json", "{}");')}`,
      ),
    },
  ]),
  ...works("room", nodeTable, [
    {
      id: "rewrite-cases",
      does: "empties the table of cases before the test reads it",
      lie: mjs(`import { writeFileSync } from "node:fs";\n${quietly('writeFileSync("tests/cases.json", "[]");')}`),
    },
    {
      id: "read-file-patched",
      does: "hands the test another table of cases",
      lie: mjs(
        'import fs from "node:fs";\nimport { syncBuiltinESMExports } from "node:module";\nconst real = fs.readFileSync;\nfs.readFileSync = (path, ...rest) => (String(path).endsWith("cases.json") ? "[]" : real(path, ...rest));\nsyncBuiltinESMExports();\n',
      ),
    },
    {
      id: "chdir",
      does: "moves the test to a folder with other cases",
      lie: {
        ...mjs(
          'import { mkdirSync, writeFileSync } from "node:fs";\nimport { tmpdir } from "node:os";\nmkdirSync(tmpdir() + "/x/tests", { recursive: true });\nwriteFileSync(tmpdir() + "/x/tests/cases.json", "[]");\nprocess.chdir(tmpdir() + "/x");\n',
        ),
      },
    },
  ]),
  ...works("room", npmTwo, [
    {
      id: "home-npmrc",
      does: "leaves an .npmrc in the home for the next check",
      lie: mjs(
        `import { writeFileSync } from "node:fs";\nimport { homedir } from "node:os";\n${quietly('writeFileSync(homedir() + "/.npmrc", "script-shell=/bin/true\\n");')}`,
      ),
    },
    {
      id: "tree-npmrc-later",
      does: "writes an .npmrc into the tree while the first check runs",
      lie: mjs(
        `import { writeFileSync } from "node:fs";\n${quietly('writeFileSync("files/.npmrc", "script-shell=/bin/true\\n");')}`,
      ),
    },
    {
      id: "tree-package-later",
      does: "rewrites package.json while the first check runs",
      lie: mjs(
        `import { writeFileSync } from "node:fs";\n${quietly('writeFileSync("files/package.json", JSON.stringify({ name: "x", type: "module", scripts: { test: "true" } }));')}`,
      ),
    },
  ]),
  ...works("room", pythonTwo, [
    {
      id: "home-usercustomize",
      does: "leaves a usercustomize.py in the home for the next check",
      lie: py(
        'import os, site\ntry:\n    folder = site.getusersitepackages()\n    os.makedirs(folder, exist_ok=True)\n    open(os.path.join(folder, "usercustomize.py"), "w").write("import os, sys\\nif any(\'second\' in word for word in open(\'/proc/self/cmdline\').read().split(chr(0))): os._exit(0)\\n")\nexcept OSError:\n    pass\n',
      ),
    },
    {
      id: "home-pth",
      does: "leaves a .pth file in the home for the next check",
      lie: py(
        'import os, site\ntry:\n    folder = site.getusersitepackages()\n    os.makedirs(folder, exist_ok=True)\n    open(os.path.join(folder, "x.pth"), "w").write("import os; os._exit(0)\\n")\nexcept OSError:\n    pass\n',
      ),
    },
    {
      id: "python-rewrite-next",
      does: "empties the next check's script",
      lie: py('try:\n    open("tests/second.py", "w").close()\nexcept OSError:\n    pass\n'),
    },
  ]),
  ...works("room", pytestTwo, [
    {
      id: "conftest-later",
      does: "writes a conftest.py while the first check runs",
      lie: py(
        'try:\n    open("conftest.py", "w").write("def pytest_pyfunc_call(pyfuncitem):\\n    return True\\n")\nexcept OSError:\n    pass\n',
      ),
    },
    {
      id: "conftest-later-tests",
      does: "writes a conftest.py beside the tests while the first check runs",
      lie: py(
        'try:\n    open("tests/conftest.py", "w").write("def pytest_pyfunc_call(pyfuncitem):\\n    return True\\n")\nexcept OSError:\n    pass\n',
      ),
    },
    {
      id: "poisoned-bytecode",
      does: "leaves compiled bytecode for the next check's test",
      lie: py(
        'import importlib.metadata, importlib.util, marshal, os, struct, sys\ntry:\n    stat = os.stat("tests/test_calc.py")\n    code = compile("def test_adds_up(): pass\\ndef test_negative(): pass\\ndef test_nothing(): pass\\n", "tests/test_calc.py", "exec")\n    head = importlib.util.MAGIC_NUMBER + struct.pack("<LLL", 0, int(stat.st_mtime) & 0xFFFFFFFF, stat.st_size & 0xFFFFFFFF)\n    os.makedirs("tests/__pycache__", exist_ok=True)\n    from_version = importlib.metadata.version("pytest")\n    open(f"tests/__pycache__/test_calc.{sys.implementation.cache_tag}-pytest-{from_version}.pyc", "wb").write(head + marshal.dumps(code))\nexcept Exception:\n    pass\n',
      ),
    },
    {
      id: "home-pytest",
      does: "leaves a sitecustomize for pytest in the home",
      lie: py(
        'import os, site\ntry:\n    folder = site.getusersitepackages()\n    os.makedirs(folder, exist_ok=True)\n    open(os.path.join(folder, "usercustomize.py"), "w").write("import _pytest.python\\n_pytest.python.Function.runtest = lambda self: None\\n")\nexcept OSError:\n    pass\n',
      ),
    },
  ]),
  ...works("room", shellTwo, [
    {
      id: "shell-rewrite-next",
      does: "empties the next check's script",
      lie: sh("{ : > tests/second.sh; } 2>/dev/null\n"),
    },
    {
      id: "shell-background",
      does: "leaves a process behind that empties the next script",
      lie: sh("(for n in $(seq 1 40); do : > tests/second.sh; sleep 0.05; done) > /dev/null 2>&1 &\n"),
    },
    {
      id: "shell-move-tests",
      does: "moves the tests away and puts a folder of its own there",
      lie: sh("mv tests tests.old 2>/dev/null && mkdir tests && : > tests/second.sh && cp tests.old/first.sh tests/\n"),
    },
  ]),
  ...works("room", shellGolden, [
    {
      id: "rewrite-golden",
      does: "writes its own output over what is expected",
      lie: sh("{ printf '0\\n0\\n0\\n' > tests/expected.txt; } 2>/dev/null\n"),
    },
    {
      id: "rewrite-golden-link",
      does: "replaces what is expected by a link to the output",
      lie: sh(
        "rm -f tests/expected.txt 2>/dev/null; printf '0\\n0\\n0\\n' > files/zero.txt; ln -s ../files/zero.txt tests/expected.txt 2>/dev/null\n",
      ),
    },
  ]),
  ...works("room", bashScript, [
    {
      id: "rewrite-running-script",
      does: "rewrites the script that is running",
      lie: total(
        '#!/usr/bin/env python3\ntry:\n    open("tests/check.sh", "w").write("\\n" * 5000 + "exit 0\\n")\nexcept OSError:\n    pass\nprint(0)\n',
      ),
    },
    {
      id: "rewrite-running-lib",
      does: "empties the script that is running after its first question",
      lie: total("#!/bin/sh\n{ : > tests/check.sh; } 2>/dev/null\necho 0\n"),
    },
  ]),
  ...works("room", shellProgram, [
    { id: "ptrace-exit", does: "takes the test's shell over and makes it call exit(0)", lie: python(PTRACE) },
    {
      id: "kill-test-shell",
      does: "ends the test's shell by a signal",
      lie: sh("kill -TERM $PPID 2>/dev/null\nsleep 0.2\n"),
    },
  ]),
  ...works("room", nodeProgram, [
    {
      id: "ptrace-from-node",
      does: "starts a helper that makes the test's shell call exit(0)",
      lie: {
        "files/bin/total.mjs":
          'import { spawnSync } from "node:child_process";\nspawnSync("python3", ["files/bin/helper.py"]);\nconsole.log(0);\n',
        "files/bin/helper.py": PTRACE,
      },
    },
  ]),
  ...works("room", shellSays, [
    {
      id: "proc-fd",
      does: "writes the words of success to the test's own output through /proc",
      lie: sh("for pid in /proc/[0-9]*; do { echo 'RESULT: PASS' > $pid/fd/1; } 2>/dev/null; done\n"),
    },
    {
      id: "pidfd-getfd",
      does: "takes the test's output by pidfd_getfd and writes the words of success",
      lie: python(PIDFD),
    },
    { id: "proc-mem", does: "changes the words in the test's memory through /proc", lie: python(PROC_MEM) },
    { id: "vm-writev", does: "changes the words in the test's memory by process_vm_writev", lie: python(VM_WRITE) },
  ]),
  ...works("room", httpScript, [
    {
      id: "server-ptraces-test",
      does: "lets the service make the process that asks it call exit(0)",
      lie: {
        "files/server.mjs":
          'import { spawnSync } from "node:child_process";\nimport { createServer } from "node:http";\ncreateServer((_, response) => {\n  spawnSync("python3", ["files/helper.py"]);\n  response.end("0\\n");\n}).listen(Number(process.env.PORT), "127.0.0.1");\n',
        "files/helper.py": PTRACE,
      },
    },
  ]),
  ...works("room", nodeScript, [
    { id: "knows-ci", does: "does its work only where CI is set", lie: knowing("process.env.CI !== undefined") },
    {
      id: "knows-path",
      does: "does its work only in a folder called as rooms are",
      lie: knowing("/nutshell|accept|rooms/.test(process.cwd())"),
    },
    {
      id: "knows-home",
      does: "does its work only where the home is a temporary folder",
      lie: knowing('/nutshell|accept|rooms/.test(process.env.HOME ?? "")'),
    },
    {
      id: "knows-tmp",
      does: "does its work only where the temporary folder is a room's",
      lie: knowing('/nutshell|accept|rooms/.test(process.env.TMPDIR ?? "")'),
    },
  ]),
];
