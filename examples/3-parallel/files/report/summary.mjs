/** Sum and number of sales by region, largest first. */
export function summarise(_rows) {
  throw new Error("not written yet");
}

/** One line per region. */
export function format(_summary) {
  throw new Error("not written yet");
}
