import { describe, expect, it } from "vitest";
import { bold, jsonText, printable, render } from "./text.js";

describe("JSON on a terminal [P3]", () => {
  it("is the same document, on as many lines, and speaks to nobody", () => {
    const value = { "\u009b2J": "a\u202eb\u2028c\u007f\ufeff\u{e0041}\x1b]52;c;x\x07", plain: "naïve 文字 😀️" };
    for (const indent of [undefined, 2]) {
      const text = jsonText(value, indent);
      expect(JSON.parse(text)).toEqual(value);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
      expect(text).toContain("naïve 文字 😀️");
      expect(text.split(/[\n\u2028\u0085]/)).toHaveLength(indent === undefined ? 1 : 4);
    }
  });
});

describe("what may reach a terminal [P3]", () => {
  it.each([
    ["an escape sequence", "\x1b[2J", "\\x1b[2J"],
    ["a bell", "\x07", "\\x07"],
    ["a carriage return", "a\rb", "a\\x0db"],
    ["a new line", "a\nb", "a\\x0ab"],
    ["delete", "\x7f", "\\x7f"],
    ["an eight-bit escape", "\x9b31m", "\\x9b31m"],
    ["text turned round", "\u202egpj.exe", "\\u{202e}gpj.exe"],
    ["text set apart", "\u2066a\u2069", "\\u{2066}a\\u{2069}"],
    ["an Arabic letter mark", "\u061c", "\\u{61c}"],
    ["a zero-width space", "a\u200bb", "a\\u{200b}b"],
    ["a line separator", "a\u2028b", "a\\u{2028}b"],
    ["a byte order mark", "\ufeff", "\\u{feff}"],
    ["an invisible tag", "\u{e0041}", "\\u{e0041}"],
    ["a soft hyphen", "a\u00adb", "a\\xadb"],
    ["letters nobody sees", "\u3164\u115f\u034f\ufe01", "\\u{3164}\\u{115f}\\u{34f}\\u{fe01}"],
    ["selectors of a supplement", "\u{e0101}", "\\u{e0101}"],
    ["a tab", "a\tb", "a  b"],
    ["words of any language", "naïve 文字 😀 \u0301", "naïve 文字 😀 \u0301"],
  ])("holds %s harmless", (_, text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(render(text, true)).toBe(shown);
  });

  it("is coloured by us alone, and only where colour is wanted", () => {
    expect(render(bold("a\x1b[31m"), true)).toBe("\x1b[1ma\\x1b[31m\x1b[0m");
    expect(render(bold("a"), false)).toBe("a");
    expect(render("\uFDD3proven\uFDDF", true)).toBe("\\u{fdd3}proven\\u{fddf}");
  });
});
