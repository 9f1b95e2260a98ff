/** Loaded before everything else in a worker and its runs: after a while, every clock jumps but the one that only counts. */
export const jumpingClock = (byMs: number, afterMs: number): string => `
const Real = Date;
const shift = () => (performance.now() >= ${afterMs} ? ${byMs} : 0);
globalThis.Date = class extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + shift());
    else super(...given);
  }
  static now() {
    return Real.now() + shift();
  }
};
`;
