import { command } from "../../../cli/command.js";
import { dim, table } from "../../../cli/text.js";
import { runList } from "./runs.js";

export default command(runList, {
  about: ["Runs live in .nexus/state/nutcracker/runs of the project, one folder each."],
  examples: [["nexus runs", "every run, oldest first"]],
  text: ({ runs }) => {
    if (runs.length === 0) return ["no runs yet", dim("nexus run task.nut")];
    return table(
      runs.map(({ id, status, detail, tasks, driver, title, delivery }) => [
        id,
        detail === "" ? status : `${status} (${detail})`,
        `${tasks.completed}/${tasks.total}`,
        driver,
        delivery === undefined ? title : `${title} → ${delivery}`,
      ]),
    );
  },
});
