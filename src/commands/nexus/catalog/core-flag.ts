import type { Flag } from "../../../cli/command.js";

export const coreFlag: Flag = {
  value: "<dir>",
  about: "a nexus-core folder of the 0.7 line (default: the one built in)",
};
