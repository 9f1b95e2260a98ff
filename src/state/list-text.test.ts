import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { appended, chunks, type ListText, listText, replaced, withHead } from "./list-text.js";

const written = (text: ListText) => Buffer.concat(chunks(text)).toString("utf8");

const item = fc.record({ id: fc.integer(), title: fc.string({ unit: "grapheme" }) });
const change = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), item }),
  fc.record({ kind: fc.constant("replace" as const), item, at: fc.nat() }),
  fc.record({ kind: fc.constant("head" as const), goal: fc.string({ unit: "grapheme" }) }),
);

describe("the text of a long list", () => {
  it("is what writing everything out again would give, whatever changed", () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 5 }), fc.array(change, { maxLength: 12 }), (items, changes) => {
        let value = { goal: "g", items };
        let text = listText(value, "items");
        for (const one of changes) {
          if (one.kind === "append") {
            value = { ...value, items: [...value.items, one.item] };
            text = appended(text, one.item);
          } else if (one.kind === "head") {
            value = { ...value, goal: one.goal };
            text = withHead(text, value, "items");
          } else if (value.items.length > 0) {
            const at = one.at % value.items.length;
            value = { ...value, items: value.items.with(at, one.item) };
            text = replaced(text, at, one.item);
          }
        }
        expect(written(text)).toBe(written(listText(value, "items")));
        expect(JSON.parse(written(text))).toEqual(value);
      }),
    );
  });

  it("puts each item on a line of its own, and the list last", () => {
    expect(written(listText({ items: [{ a: 1 }, { b: 2 }], note: "x" }, "items"))).toBe(
      '{\n"note": "x",\n"items": [\n{"a":1},\n{"b":2}\n]\n}\n',
    );
  });
});
