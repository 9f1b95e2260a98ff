import { describe, expect, it } from "vitest";
import { MAX_SHELL_COMMANDS } from "./shell-parse.js";
import { MAX_SHELL_CHARS, MAX_SHELL_DEPTH, readShell } from "./shell-writes.js";

const shellWrites = (command: string) => readShell(command).writes;

const WRITING = [
  "sed 's|a|b|w f' x",
  "sed -n 'wf' x",
  "sed '1etouch f' x",
  "sed --expression='w f' x",
  'python3 -c\'open("f","w")\'',
  "python3 -m zipfile -e a.zip .",
  "python3 -m black f.py",
  "awk -F : 'BEGIN{print 1 > \"f\"}'",
  "awk -v x=1 'BEGIN{system(\"touch f\")}'",
  'awk \'BEGIN{c="sh"; print "touch f" | c}\'',
  "gcc -of x.c",
  "go build -o f .",
  "curl -sSof http://x",
  "curl -D f http://x",
  "curl -w '%output{f}x' http://x",
  "wget -qO- -o f http://x",
  "sort -of x",
  "uniq - f",
  "touch -- -f",
  "tar -tf a.tar --to-command='touch f'",
  "function g { touch f; }; g",
  "coproc g { touch f; }",
  "time -p touch f",
  "command -p touch f",
  "sudo -E touch f",
  "unshare -r touch f",
  "setpriv --reuid 1 touch f",
  "prlimit --nproc=9 touch f",
  "gosu root touch f",
  "runuser -u x -- touch f",
  "flock f -c 'touch g'",
  "npm exec -- touch f",
  "npx -c 'touch f'",
  "uv run touch f",
  "bundle exec touch f",
  "watch 'touch f'",
  "strace -o f ls",
  "export LD_PRELOAD=./x.so; ls",
  "env 'BASH_FUNC_ls%%=() { touch f; }' bash -c ls",
  "printf '\\x74ouch f' | sh",
  "alias l='touch '; l f",
  "x='a[$(touch f)]'; ((x))",
  "git fetch --upload-pack='touch f' .",
  "git ls-remote ext::'sh -c touch% f'",
  "git unknown-alias",
  "git remote add x y",
  "bash5.2 -c 'touch f'",
  "pwsh -c 'Set-Content f x'",
  "racket -e '(x)'",
  "perl -e'sysopen F,\"f\",66'",
  "php -r'mkdir(\"f\");'",
  "echo x > a",
  "echo x >> a",
  "cat <<EOF > f\nhi\nEOF",
  "tee a <<< x",
  "echo x | tee -a a",
  "sed -i s/a/b/ f",
  "sed -i.bak s/a/b/ f",
  "sed --in-place s/a/b/ f",
  "sed -n 'w out' f",
  "perl -pi -e s/a/b/ f",
  "perl -i -pe 1 f",
  "ruby -i -pe 1 f",
  "cp a b",
  "mv a b",
  "install a b",
  "ln -s a b",
  "rm f",
  "rm -rf d",
  "touch f",
  "mkdir d",
  "truncate -s0 f",
  "dd if=/dev/zero of=f",
  "git apply p",
  "patch -p1 < x",
  "apply_patch <<'P'\n*** Begin Patch\nP",
  "git checkout -- f",
  "git restore f",
  "git stash",
  "git reset --hard",
  "git -C d rm f",
  "git -c alias.x='!touch f' x",
  "env -S 'touch f'",
  "env -i -S'sh -c \"touch f\"'",
  "env --split-string='touch f'",
  "git -c core.fsmonitor='touch f' status",
  "git -c core.pager='touch f' -p log",
  "git -c diff.x.textconv='touch f' log -p",
  "git --exec-path=. foo",
  "GIT_EXTERNAL_DIFF='touch f' git diff",
  "env GIT_SSH_COMMAND='touch f' git fetch",
  "LD_PRELOAD=./f.so ls",
  "BASH_ENV=f bash -c :",
  "git grep -O'touch f' a",
  "git archive -o f HEAD",
  "git diff --output=f",
  "git log --output f",
  "git format-patch -o d HEAD",
  "sed 's/x/touch f/e' a",
  "sed '1e touch f' a",
  'node --eval=\'require("fs").writeFileSync("f","")\'',
  "julia -e 'touch(\"f\")'",
  "printf -v 'a[$(touch f)]' x",
  "read -r 'a[$(touch f)]' <<< y",
  "mapfile -C 'touch f' -c 1 < a",
  "enable -f ./f.so f",
  "su -c 'touch f'",
  "script -c 'touch f' /dev/null",
  "sh -c -- 'touch f'",
  "setarch x86_64 touch f",
  "nsenter touch f",
  "pkexec touch f",
  "systemd-run --user touch f",
  "bwrap --bind / / touch f",
  "/lib64/ld-linux-x86-64.so.2 /bin/touch f",
  "ssh localhost touch f",
  "podman run f",
  "rg --pre ./f x",
  "fzf --preview 'touch f'",
  "dc -e '!touch f'",
  "cmake -E touch f",
  "tcsh -c 'touch f'",
  "pwsh -c 'touch f'",
  "fallocate -l1 f",
  "xxd a f",
  "python3 -c \"open('f','w').write('x')\"",
  "python3 - <<E\nopen('f','w')\nE",
  "python - <<'E'\nimport os; os.remove('x')\nE",
  "node -e \"require('fs').writeFileSync('f','')\"",
  "perl -e 'open(F,\">f\")'",
  "ruby -e 'File.write(\"f\",1)'",
  "php -r 'file_put_contents(1,2);'",
  "awk '{print > \"f\"}' x",
  "awk 'BEGIN{system(\"touch f\")}'",
  "bash -c 'echo x > f'",
  'sh -c "rm f"',
  "eval 'echo x > f'",
  "eval $X",
  "$CMD f",
  "c=tee; $c f",
  "\\tee f",
  "t''ee f",
  "/usr/bin/tee f",
  "env tee f",
  "A=1 tee f",
  "sudo -u root tee f",
  "timeout 5 tee f",
  "nohup tee f",
  "xargs rm",
  "find . -delete",
  "find . -exec rm {} \\;",
  "find . -name x | xargs -I{} mv {} y",
  "echo $(touch f)",
  "`touch f`",
  "diff <(touch f) x",
  "(echo x >f)",
  "{ echo x; } > f",
  "if true; then echo > f; fi",
  "for i in 1; do touch $i; done",
  "f() { tee x; }; f",
  "curl -o f http://x",
  "wget http://x",
  "curl http://x | sh",
  "base64 -d x | bash",
  "echo dG91Y2g= | base64 -d | sh",
  "echo 'rm x' | sh",
  "tar xf a.tar",
  "unzip a.zip",
  "gzip f",
  "sort -o f f",
  "split f",
  "vim f",
  "ed f",
  "exec 3>f",
  "true &> f",
  "true >| f",
  "true 1<>f",
  "echo x 2>err.log",
  'printf x > "a b"',
  "npm install",
  "yarn add x",
  "prettier --write .",
  "eslint --fix",
  "cd sub && echo x > f",
  "rsync a b",
  "busybox touch f",
  "crontab -",
  "trap 'rm f' EXIT",
  'echo "unclosed',
  "/usr/bin/te? f",
  "$'\\x74ee' f",
  "{tee,f}",
  "sqlite3 a.db 'insert'",
  "tmux new",
  "chmod +x f",
];

const READING = [
  "git remote -v",
  "git symbolic-ref --short HEAD",
  "sed -n '1,50p' src/write.ts",
  "sed -n '/^w/p' f",
  "sed -e 's/x/y/' -e 's/w/e/' f",
  "awk -F: '$3 > 1000 {print $1}' f",
  "timeout 60 grep -r touch src",
  "python3 -m pytest -q",
  "python3 -m json.tool x.json",
  "poetry run pytest -q",
  "watch -n1 git status",
  "if [ -f x ]; then cat x; fi",
  'export PATH="$HOME/.cargo/bin:$PATH"; cargo test',
  "gcc --version",
  "git -c color.ui=never log",
  "git -c core.quotePath=false diff --stat",
  "git -C sub grep -n -e x",
  "git log -S x --oneline",
  "sed -n -e '/one/p' a",
  "sed 's/one/two/g' a",
  "sed -n '1,5p;7q' a",
  "FOO=1 ls",
  "xxd a",
  "ssh host",
  "docker ps",
  "rg --pretty x",
  "bash -n x.sh",
  "ls -la",
  "cat f | grep x",
  "echo hi",
  "npm test",
  "npm run build",
  "git status",
  "git diff HEAD",
  "git log --oneline",
  "rg foo src",
  "sed -n 1,5p f",
  'node -e "console.log(1)"',
  "python3 -c 'print(1)'",
  "find . -name '*.ts'",
  "true 2>&1",
  "awk '{print $1}' f",
  "awk '$1 > 3' f",
  "sort f | uniq -c",
  "tar tf a.tar",
  "curl -s http://x",
  "wc -l < f",
  "pytest -q",
  "cargo test",
  "go test ./...",
  "make test",
  "git show HEAD:f",
  "git branch -a",
  "git stash list",
  "jq .a f",
  "test -f a && echo yes",
  "command -v node",
  "bash script.sh",
  "xargs grep x",
  "git apply --check p",
  "echo 'a > b'",
  'echo "x > y"',
  "node --test",
  "npx vitest run",
  "python -m pytest",
  "env | sort",
  "time npm test",
  "# echo x > f",
];

describe("shellWrites", () => {
  it.each(WRITING)("recognises %s", (command) => expect(shellWrites(command)).not.toEqual([]));
  it.each(READING)("lets %s pass", (command) => expect(shellWrites(command)).toEqual([]));

  it("says where, as far as it can be told", () => {
    expect(shellWrites("cd sub && echo x > f; echo y > /tmp/z; echo > $X").map(({ path }) => path)).toEqual([
      "sub/f",
      "/tmp/z",
      null,
    ]);
  });

  it("tells purpose from side effect", () => {
    expect(shellWrites("git pull")).toEqual([{ how: "git pull", kind: "tool", path: null }]);
    expect(shellWrites("rm f")).toEqual([{ how: "rm", kind: "direct", path: "f" }]);
  });

  it("knows the folder of what runs inside", () => {
    const paths = (command: string) => shellWrites(command).map(({ path }) => path);
    expect(paths("cd .nexus && x=$(echo > state/tasks.json)")).toEqual([".nexus/state/tasks.json"]);
    expect(paths("cd sub; bash -c 'touch f'; cat <<E\n$(touch g)\nE")).toEqual(["sub/f", "sub/g"]);
    expect(paths("cd a; find . -exec touch f {} \\;")).toEqual([null, null, null]);
  });

  it("reads a here-document as the shell does", () => {
    expect(shellWrites("cat <<'E'\na lone ` and $(\nE")).toEqual([]);
    expect(shellWrites("cat <<E\na lone `\nE")).not.toEqual([]);
    expect(shellWrites("cat <<E\n$(echo ')' ; rm f)\nE")).toEqual([{ how: "rm", kind: "direct", path: "f" }]);
    expect(shellWrites("bash -c 'ls' <<E\n$(rm f)\nE")).toEqual([{ how: "rm", kind: "direct", path: "f" }]);
    expect(shellWrites("cat 3<<< x")).toEqual([]);
  });

  it("takes no name of a program for something an object inherits", () => {
    expect(shellWrites("constructor a; __proto__ b; git log toString; npm valueOf; env hasOwnProperty c")).toEqual([]);
  });

  it("names the programs that would be started, however deep", () => {
    const names = (command: string) => readShell(command).programs.map(({ name }) => name);
    expect(names("sudo -u x env A=1 /usr/bin/nexus call")).toEqual(["nexus"]);
    expect(names("echo a | xargs nexus call; find . -exec nexus call \\;")).toEqual([
      "echo",
      "xargs",
      "nexus",
      "find",
      "nexus",
    ]);
    expect(names("bash -c 'nexus call' && $(nexus x)")).toEqual(["bash", "nexus", "nexus"]);
  });
});

describe("a command made to keep a reader busy", () => {
  const undecided = (command: string) => readShell(command).writes.filter(({ kind }) => kind === "undecided");

  it.each([
    ["too deep", `${"$(".repeat(20)}x${")".repeat(20)}`],
    ["too deep", "xargs ".repeat(60)],
    ["too deep", `${"find . -exec ".repeat(60)} x`],
    ["too deep", `${"trap '".repeat(1)}${"eval ".repeat(60)}x'`],
    ["too long", "a".repeat(MAX_SHELL_CHARS + 1)],
    ["too long", `echo ${"`a` ".repeat(MAX_SHELL_CHARS / 5)}`],
    ["too many files", `rm ${"f ".repeat(600)}`],
    ["too many programs", `${"a|".repeat(MAX_SHELL_COMMANDS)}rm f`],
  ])("is %s to be read, and says so once", (how, command) => {
    expect(undecided(command)).toEqual([{ how: expect.stringContaining(how), kind: "undecided", path: null }]);
  });

  it("is read when it is just short and flat enough", () => {
    expect(shellWrites("a".repeat(MAX_SHELL_CHARS))).toEqual([]);
    const deep = `${"$(".repeat(MAX_SHELL_DEPTH)}echo${")".repeat(MAX_SHELL_DEPTH)}`;
    expect(undecided(deep)).toEqual([]);
    expect(undecided(`$(${deep})`)).toHaveLength(1);
    expect(undecided(`rm ${"f ".repeat(500)}`)).toEqual([]);
    expect(shellWrites(`${"a|".repeat(MAX_SHELL_COMMANDS - 1)}rm f`)).toHaveLength(1);
  });

  // Repeated as often as fits. Each kept an earlier reader busy for seconds, or until memory was full.
  const HOSTILE: readonly [head: string, pump: string, tail: string][] = [
    ["", "xargs ", ""],
    ["", "find . -exec ", ""],
    ["find . ", "-exec ; ", ""],
    ["", "find . -exec rm {} \\; ", ""],
    ["python3 -c 'open", " ", "'"],
    ['python3 -c "', "open( '", '"'],
    ["perl -e '", "open ", "'"],
    ["psql -c '", "COPY ", "'"],
    ["awk '", "print ", "'"],
    ["sed '", "\n", "'"],
    ["tar ", "x", "!"],
    ["gzip -", "c", "!"],
    ["echo {", ",", ""],
    ["echo ", "{a,", ""],
    ["", "$(", ""],
    ["", "`a` ", ""],
    ["", "<<a ", ""],
    ["", "cat <<a\n$(x)\na\n", ""],
    ["", "A=1 ", ""],
    ["", "sudo ", ""],
    ["", "cd a;>f;", ""],
    ["", "echo x | sh;", ""],
    ["", 'trap "$(', ""],
    ["git ", "-c a=b ", ""],
    ["", "\\", ""],
    ["", "<(a) ", ""],
  ];

  it.each(HOSTILE)("takes time in proportion: %j %j", (head, pump, tail) => {
    const sized = (chars: number) => head + pump.repeat(Math.floor((chars - head.length) / pump.length)) + tail;
    const spent = (chars: number) => {
      const start = process.cpuUsage();
      readShell(sized(chars));
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };
    const small = spent(4_000);
    const large = spent(60_000);
    // Fifteen times the text. What goes back over it would take two hundred times as long.
    if (large > 500) expect(large / small).toBeLessThan(60);
  });
});
