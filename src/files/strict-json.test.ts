import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatJson, JsonError, keepSpelling, parseJson } from "./strict-json.js";

describe("parseJson", () => {
  it("agrees with JSON.parse on what JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(!text.includes("__proto__"));
        expect(parseJson(text)).toEqual(JSON.parse(text));
        expect(formatJson(parseJson(text), { indent: 0 })).toBe(text.replace(/^\s+|\s+$/g, ""));
      }),
    );
  });

  it.each([
    ['{"a":1,"a":2}', 'the key "a" is given twice'],
    ['{"a":1,"\\u0061":2}', 'the key "a" is given twice'],
    ['{"__proto__":1}', "__proto__"],
    ["1e999", "out of range"],
    ['"\\ud800"', "surrogate"],
    ["[1,]", "does not belong here"],
    ['{"a":1', "ends too early"],
    ["01", "after the end"],
    ["// x", "does not belong here"],
    ['"\t"', "control character"],
    ['"\\x"', "unknown escape"],
    ["[".repeat(65) + "]".repeat(65), "deeper than 64"],
    ["", "ends too early"],
    ["tru", "does not belong here"],
  ])("refuses %s", (text, message) => {
    expect(() => parseJson(text)).toThrow(message);
  });

  it("refuses what is not plain UTF-8", () => {
    for (const bytes of [
      [0xef, 0xbb, 0xbf, 0x31],
      [0xff, 0xfe, 0x31, 0],
      [0x22, 0xc3, 0x28, 0x22],
    ]) {
      expect(() => parseJson(Uint8Array.from(bytes))).toThrow(JsonError);
    }
  });

  it("accepts 64 levels and a key named constructor", () => {
    expect(parseJson("[".repeat(64) + "]".repeat(64))).toBeDefined();
    expect(parseJson('{"constructor":1,"toString":2}')).toEqual({ constructor: 1, toString: 2 });
  });
});

describe("formatJson", () => {
  it("keeps the spelling of what was not changed", () => {
    const text = '{"a":1.0,"b":[12345678901234567890,"\\u0041"],"c":{"d":1E2}}';
    const value = parseJson(text) as Record<string, unknown>;
    expect(formatJson(value, { indent: 0 })).toBe(text);
    value.a = 2;
    expect(formatJson(value, { indent: 0 })).toBe(text.replace("1.0", "2"));
    expect(formatJson({ ...value, a: 1 }, { indent: 0 })).toContain('"a":1,');
    expect(formatJson(keepSpelling({ ...value, a: 1 }, value), { indent: 0 })).toContain('"a":1.0,');
  });

  it("writes nothing JSON does not have", () => {
    expect(formatJson({ a: undefined, b: null }, { indent: 0 })).toBe('{"b":null}');
    expect(() => formatJson({ a: Number.POSITIVE_INFINITY })).toThrow(TypeError);
  });
});
