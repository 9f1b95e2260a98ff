export { bestOf, RULE } from "./best.js";
export { type Page, scorecardPage } from "./page.js";
export { isSolved, rowsOf } from "./rows.js";
export { type Interval, wilson } from "./wilson.js";
