// The table of tricks, for docs/proof.md.
import { earlier } from "./before.js";
import { TRICKS } from "./tricks.js";

export function markdown(): string {
  const rows = TRICKS.map(({ id, family, world, does, undecidable }) => {
    const said = undecidable === undefined ? does : `${does} (undecidable: ${undecidable})`;
    const cells = [id, family, world.stack, said, earlier(id) ?? "not tried"];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return ["| id | family | stack | what it does | before |", "|---|---|---|---|---|", ...rows].join("\n");
}
