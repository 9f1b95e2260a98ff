import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startAwakeClock } from "./awake-clock.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the time a machine was awake", () => {
  it("counts work and not sleep where the system's clock goes on in sleep", () => {
    let asleep = 0;
    const began = Date.now();
    const { read, stop } = startAwakeClock(() => Date.now() - began + asleep, false);
    const start = read();
    vi.advanceTimersByTime(600_000);
    expect(read() - start).toBe(600_000);
    asleep += 8 * 3_600_000;
    expect(read() - start).toBeLessThan(602_000);
    vi.advanceTimersByTime(60_000);
    expect(read() - start).toBeGreaterThanOrEqual(660_000);
    expect(read() - start).toBeLessThan(662_000);
    stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is the system's clock where that stands still, however long nobody looks", () => {
    let now = 5;
    const { read } = startAwakeClock(() => now, true);
    now += 3_600_000;
    expect(read()).toBe(3_600_005);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("never goes back", () => {
    let now = 1_000;
    const { read, stop } = startAwakeClock(() => now, false);
    now = 10;
    expect(read()).toBe(1_000);
    stop();
  });
});
