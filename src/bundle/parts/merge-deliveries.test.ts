import { describe, expect, it } from "vitest";
import type { Delivery } from "../../schema/delivery.js";
import { mergeDeliveries } from "./merge-deliveries.js";

describe("several deliveries as one", () => {
  const done: Delivery = { status: "completed", completion_percentage: 100 };
  const percent = (...parts: Delivery[]) => mergeDeliveries(parts).completion_percentage;

  it("tell no percentage that a part does not tell, and never all of what is not completed", () => {
    expect(percent(done, { status: "completed" })).toBe(100);
    expect(percent(done, { status: "partial", completion_percentage: 40 })).toBe(40);
    expect(percent(done, { status: "partial", completion_percentage: 100 })).toBe(99);
    expect(percent(done, { status: "partial" })).toBeUndefined();
    expect(mergeDeliveries([done, { status: "failed" }])).not.toHaveProperty("completion_percentage");
  });
});
