import type { ProjectView } from "../../board/model.js";
import type { Params } from "../shell.js";
import type { Writing } from "./acting.js";

/** What every view of the board is given. */
export interface ViewProps {
  readonly project: ProjectView;
  readonly now: number;
  readonly writing: Writing | null;
  readonly rest: string;
  readonly params: Params;
}
