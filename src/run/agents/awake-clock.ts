// The time a machine was awake. Where the system's growing clock stands still in sleep (Linux) it is that clock; elsewhere
// (macOS, Windows) it goes on in sleep, and what passed without a beat of ours is taken out: a budget of an hour is an hour of
// work, not of a closed lid.
const BEAT_MS = 1_000;
/** Longer than anything we do without letting a beat through. */
const ASLEEP_MS = 30_000;

export interface AwakeClock {
  /** Milliseconds that only ever grow, from no particular beginning. */
  readonly read: () => number;
  readonly stop: () => void;
}

export function startAwakeClock(
  raw: () => number = () => performance.now(),
  standsStill: boolean = process.platform === "linux",
): AwakeClock {
  if (standsStill) return { read: raw, stop: () => {} };
  let last = raw();
  let asleep = 0;
  const read = (): number => {
    const now = raw();
    if (now - last > ASLEEP_MS) asleep += now - last - BEAT_MS;
    last = Math.max(last, now);
    return last - asleep;
  };
  const beat = setInterval(read, BEAT_MS);
  beat.unref();
  return { read, stop: () => clearInterval(beat) };
}
