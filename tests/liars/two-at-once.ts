// However many tests are started side by side, two rows at a time are put before the programs.
let running = 0;
const waiting: (() => void)[] = [];

export async function twoAtOnce<T>(work: () => Promise<T>): Promise<T> {
  if (running >= 2) await new Promise<void>((go) => waiting.push(go));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}
