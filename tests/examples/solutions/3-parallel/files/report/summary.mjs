/** Sum and number of sales by region, largest first. */
export function summarise(rows) {
  const regions = new Map();
  for (const { region, amount } of rows) {
    const found = regions.get(region) ?? { region, cents: 0, sales: 0 };
    found.cents += Math.round(Number(amount) * 100);
    found.sales += 1;
    regions.set(region, found);
  }
  return [...regions.values()].sort((a, b) => b.cents - a.cents || (a.region < b.region ? -1 : 1));
}

/** One line per region. */
export function format(summary) {
  return summary
    .map(
      ({ region, cents, sales }) => `${region}: ${(cents / 100).toFixed(2)} (${sales} sale${sales === 1 ? "" : "s"})`,
    )
    .join("\n");
}
