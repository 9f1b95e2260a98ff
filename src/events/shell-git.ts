// What git does to files, by its verb and by what stands before it.
import { gitRuns } from "./shell-inline.js";
import type { Word } from "./shell-parse.js";
import { flagged, has, plain, rowOf, type ShellWrite, write } from "./shell-programs.js";

export function gitWrites(args: readonly Word[]): ShellWrite[] {
  let i = 0;
  while (i < args.length && args[i]!.text.startsWith("-"))
    i += /^(?:-C|-c|--git-dir|--work-tree)$/.test(args[i]!.text) ? 2 : 1;
  if (gitRuns(args.slice(0, i + 1))) return [write("git with a setting that runs something", null)];
  const verb = args[i];
  if (verb === undefined) return [];
  if (verb.dynamic) return [write("git with a computed verb", null)];
  const kind = rowOf(GIT, verb.text);
  const rest = args.slice(i + 1);
  if (has(rest, GIT_STARTS)) return [write(`git ${verb.text} with a program of its own`, null)];
  const shows = flagged(`git ${verb.text} to a file`, GIT_OUTPUT)(rest);
  if (shows.length > 0) return shows;
  // A name that is none of git's own is an alias, which may be anything.
  if (kind === undefined) return isRead(verb.text, rest) ? [] : [write(`git ${verb.text}`, null, "tool")];
  if (verb.text === "stash" && /^(?:list|show)$/.test(plain(rest)[0]?.text ?? "")) return [];
  if (verb.text === "branch" && !has(rest, /^-[dDmMcCfu]|^--(?:delete|move|copy|force|set-upstream)/)) return [];
  if (verb.text === "apply" && has(rest, /^--(?:check|stat|numstat|summary)$/)) return [];
  if (verb.text === "config" && has(rest, /^--(?:get|list)|^-l$/)) return [];
  if (verb.text === "worktree" && plain(rest)[0]?.text === "list") return [];
  return [write(`git ${verb.text}`, null, kind)];
}
/** Programs that git starts to reach the other side. */
const GIT_STARTS = /^--(?:upload-pack|receive-pack|exec)(?:=|$)|^ext::/;

const GIT_READS: ReadonlySet<string> = new Set(
  "log show diff status blame annotate grep shortlog whatchanged describe ls-files ls-tree ls-remote rev-parse rev-list for-each-ref show-ref show-branch name-rev merge-base merge-tree cherry cat-file diff-tree diff-index diff-files range-diff patch-id check-ignore check-attr check-mailmap check-ref-format count-objects fsck verify-commit verify-tag verify-pack var help version reflog remote symbolic-ref fetch get-tar-commit-id stripspace column interpret-trailers fmt-merge-msg cherry last-modified".split(
    " ",
  ),
);

/** Verbs that only show something, as long as nothing behind them says otherwise. */
function isRead(verb: string, rest: readonly Word[]): boolean {
  const [first = ""] = plain(rest).map(({ text }) => text);
  if (verb === "remote") return /^(?:|show|get-url|-v)$/.test(first);
  if (verb === "reflog") return !/^(?:expire|delete|drop|write)$/.test(first);
  if (verb === "symbolic-ref") return plain(rest).length <= 1 && !has(rest, /^(?:-d|--delete)$/);
  if (verb === "fsck") return !has(rest, /^--lost-found$/);
  if (verb === "interpret-trailers") return !has(rest, /^--in-place$/);
  return GIT_READS.has(verb) || verb.startsWith("-");
}
/** Of verbs that otherwise show something; the last ones start a program. */
const GIT_OUTPUT = /^--(?:output(?:-directory)?|extcmd|open-files-in-pager)(?:=(.*))?$|^-(?:O|x)/;
const GIT: Readonly<Record<string, ShellWrite["kind"]>> = {
  archive: "direct",
  bundle: "direct",
  "format-patch": "direct",
  difftool: "tool",
  mergetool: "tool",
  "hash-object": "tool",
  notes: "tool",
  replace: "tool",
  gc: "tool",
  prune: "tool",
  repack: "tool",
  apply: "direct",
  mv: "direct",
  rm: "direct",
  am: "direct",
  clean: "direct",
  checkout: "tool",
  switch: "tool",
  restore: "tool",
  reset: "tool",
  stash: "tool",
  merge: "tool",
  pull: "tool",
  rebase: "tool",
  "cherry-pick": "tool",
  revert: "tool",
  clone: "tool",
  init: "tool",
  worktree: "tool",
  submodule: "tool",
  bisect: "tool",
  "read-tree": "tool",
  "checkout-index": "tool",
  "sparse-checkout": "tool",
  "filter-branch": "tool",
  lfs: "tool",
  commit: "tool",
  add: "tool",
  tag: "tool",
  branch: "tool",
  "update-ref": "tool",
  "update-index": "tool",
  config: "tool",
  push: "tool",
};
