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
  const shows = flagged(`git ${verb.text} to a file`, GIT_OUTPUT)(rest);
  if (kind === undefined || shows.length > 0) return shows;
  if (verb.text === "stash" && /^(?:list|show)$/.test(plain(rest)[0]?.text ?? "")) return [];
  if (verb.text === "branch" && !has(rest, /^-[dDmMcCfu]|^--(?:delete|move|copy|force|set-upstream)/)) return [];
  if (verb.text === "apply" && has(rest, /^--(?:check|stat|numstat|summary)$/)) return [];
  if (verb.text === "config" && has(rest, /^--(?:get|list)|^-l$/)) return [];
  if (verb.text === "worktree" && plain(rest)[0]?.text === "list") return [];
  return [write(`git ${verb.text}`, null, kind)];
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
