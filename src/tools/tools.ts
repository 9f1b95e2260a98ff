import { artifactWrite } from "./artifact-write.js";
import { context } from "./context.js";
import { historySearch } from "./history-search.js";
import { planDecide } from "./plan-decide.js";
import { planStart } from "./plan-start.js";
import { planStatus } from "./plan-status.js";
import { planUpdate } from "./plan-update.js";
import { taskAdd } from "./task-add.js";
import { taskClose, taskCloseByHand } from "./task-close.js";
import { taskList } from "./task-list.js";
import { taskUpdate } from "./task-update.js";
import type { Tool } from "./tool.js";

/** The eleven, in the order they are listed. */
export const tools: readonly Tool[] = [
  planStart,
  planStatus,
  planUpdate,
  planDecide,
  taskAdd,
  taskList,
  taskUpdate,
  taskClose,
  historySearch,
  context,
  artifactWrite,
];

/** The same at the command line, where closing nothing files nothing. */
export const toolsByHand: readonly Tool[] = tools.map((tool) => (tool === taskClose ? taskCloseByHand : tool));
