import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { isText } from "../../files/index.js";
import { estimateTokens } from "./tokens.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Up to `most` files of one kind, spread evenly over what is installed. */
function sample(folder: string, ending: RegExp, most = 40): string[] {
  if (!existsSync(folder)) return [];
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name) && !/gpt-tokenizer|\.min\./.test(name))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && statSync(path).size > 400 && statSync(path).size < 40_000)
    .sort();
  const step = Math.max(1, Math.floor(all.length / most));
  return all.filter((_, i) => i % step === 0).slice(0, most);
}

function error(texts: readonly string[]): number {
  const sum = (count: (text: string) => number) => texts.reduce((total, text) => total + count(text), 0);
  return sum(estimateTokens) / sum(countTokens) - 1;
}

describe("estimateTokens", () => {
  const modules = join(root, "node_modules");
  const kinds: Readonly<Record<string, readonly string[]>> = {
    "our own source": sample(join(root, "src"), /\.ts$/),
    types: sample(join(modules, "zod"), /\.d\.c?ts$/),
    "javascript of others": sample(join(modules, "yaml"), /\.js$/),
    prose: sample(modules, /README\.md$/),
    json: sample(modules, /package\.json$/),
  };

  for (const [kind, paths] of Object.entries(kinds)) {
    it(`stays within a tenth of o200k over ${kind}`, () => {
      expect(paths.length).toBeGreaterThan(5);
      expect(Math.abs(error(paths.map((path) => readFileSync(path, "utf8"))))).toBeLessThan(0.1);
    });
  }

  it("stays within a tenth of o200k over everything together", () => {
    const texts = Object.values(kinds)
      .flat()
      .map((path) => readFileSync(path, "utf8"));
    expect(Math.abs(error(texts))).toBeLessThan(0.1);
  });

  it("answers nothing for nothing, and takes bytes as it takes text", () => {
    expect(estimateTokens("")).toBe(0);
    expect(estimateTokens(Buffer.from("const a = 1;\n"))).toBe(estimateTokens("const a = 1;\n"));
  });
});

describe("isText", () => {
  it("tells text from binary by a NUL", () => {
    expect(isText(Buffer.from("ä text"))).toBe(true);
    expect(isText(Buffer.from([80, 78, 0, 1]))).toBe(false);
  });
});
