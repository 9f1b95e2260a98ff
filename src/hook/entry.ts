import { hookMain } from "./main.js";

await hookMain(process.argv.slice(2));
