import { describe, expect, it } from "vitest";
import { bold, printable, render } from "./text.js";

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
    ["a tab", "a\tb", "a  b"],
    ["words of any language", "naïve 文字 😀 \u0301", "naïve 文字 😀 \u0301"],
  ])("holds %s harmless", (_, text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(render(text, true)).toBe(shown);
  });

  it("is coloured by us alone, and only where colour is wanted", () => {
    expect(render(bold("a\x1b[31m"), true)).toBe("\x1b[1ma\\x1b[31m\x1b[0m");
    expect(render(bold("a"), false)).toBe("a");
    expect(render("\uFDDA\uFDD2a", false)).toBe("a");
  });
});
