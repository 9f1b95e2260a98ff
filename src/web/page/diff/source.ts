// Where changes come from: two bundles, an exported page, or a run.
import type { CountRow, FileDiff } from "../../view/model.js";

export interface DiffSource {
  /** Lines gained and lost, by path; what is not text is left out. */
  counts(): Promise<readonly CountRow[]>;
  diff(before: string, after: string): Promise<FileDiff>;
  /** Address of a picture on one side, or null. One that begins with blob: is the caller's to revoke. */
  picture(side: 0 | 1, path: string): Promise<string | null>;
}
