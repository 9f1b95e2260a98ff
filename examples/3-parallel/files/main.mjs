import { readFileSync } from "node:fs";
import { parseCsv } from "./csv/parse.mjs";
import { format, summarise } from "./report/summary.mjs";

console.log(format(summarise(parseCsv(readFileSync(process.argv[2], "utf8")))));
