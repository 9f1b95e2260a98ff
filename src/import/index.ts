// Other people's tasks as requests. Readers look at a folder or a file and run nothing of it.
export { readCommitTree } from "./commit-tree.js";
export { readExercism } from "./exercism.js";
export { readGithubIssue } from "./github-issue.js";
export { IMPORT_KINDS, type ImportedTask, type ImportKind } from "./model.js";
export { requestOf } from "./request-of.js";
export { readSourceFolder, readTextFile } from "./source-folder.js";
export { readOpenSpec, readSpecKit } from "./spec-folders.js";
export { readSwebench, withTree } from "./swebench.js";
export { readHarbor, readTerminalBench } from "./terminal-task.js";
