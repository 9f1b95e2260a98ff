import { NutError } from "../../errors.js";
import type { RunFolder } from "./folder.js";
import { Journal } from "./journal.js";
import { lockRun } from "./lock.js";

/** Writes a person's answer into the journal, as `nexus resume --answer` would; whoever resumes the run finds it there. */
export function answerQuestion(folder: RunFolder, task: number, text: string, now: Date): void {
  const lock = lockRun(folder);
  try {
    const journal = new Journal(folder.journal);
    try {
      if (journal.state.tasks.get(task)?.question === undefined) {
        throw new NutError("TOOL_REFUSED", `task ${task} of run ${folder.id} asks nothing`, { hint: "nexus runs" });
      }
      journal.append({ type: "answered", at: now.toISOString(), task, answer: "retry", text });
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}
