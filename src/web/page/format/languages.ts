// Which language a file is in, by its name.
const LANGUAGES: ReadonlySet<string> = new Set(
  "bash c cpp css diff dockerfile go ini java javascript json kotlin makefile markdown php python ruby rust sql typescript xml yaml".split(
    " ",
  ),
);

const EXTENSIONS: Readonly<Record<string, string>> = {
  ...{ sh: "bash", zsh: "bash", h: "c", cc: "cpp", hpp: "cpp", patch: "diff", toml: "ini", cfg: "ini", kt: "kotlin" },
  ...{ js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript", ts: "typescript", tsx: "typescript" },
  ...{ md: "markdown", py: "python", rb: "ruby", rs: "rust", html: "xml", svg: "xml", yml: "yaml", jsonl: "json" },
};

/** Empty when it is none we colour. */
export function languageOf(path: string): string {
  const name = path.split("/").at(-1)!.toLowerCase();
  if (name === "dockerfile" || name === "makefile") return name;
  return languageNamed(name.includes(".") ? name.split(".").at(-1)! : "");
}

/** As a code block names it: `ts`, `python`. */
export function languageNamed(word: string): string {
  const language = EXTENSIONS[word] ?? word;
  return LANGUAGES.has(language) ? language : "";
}
