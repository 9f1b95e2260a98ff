// Which versions of the programs we start or live in are supported: the oldest whose flags, events and files we know, and
// the one everything was tried with. The tests install exactly that one (tests/hosts/clients.json, held by a test).

export interface KnownVersions {
  readonly oldest: string;
  readonly tried: string;
  /** What brings the one that was tried. */
  readonly install: string;
}

export const KNOWN_VERSIONS = {
  // Earlier ones leave out a whole settings file that names an event they do not know (ConfigChange): no hook would run.
  claude: known("2.1.48", "2.1.325", "@anthropic-ai/claude-code"),
  // Earlier ones do not start with what keeps their models from agents of their own.
  codex: known("0.163.0", "0.166.0", "@openai/codex"),
  opencode: known("1.17.0", "1.18.33", "opencode-ai"),
  qwen: known("0.15.0", "0.15.10", "@qwen-code/qwen-code"),
  gemini: known("0.60.0", "0.61.0", "@google/gemini-cli"),
} as const satisfies Record<string, KnownVersions>;

function known(oldest: string, tried: string, npm: string): KnownVersions {
  return { oldest, tried, install: `npm install -g ${npm}@${tried}` };
}

/** old: not supported; tried: the very version of the tests; untried: between or after, told and not guessed at. */
export type HowKnown = "old" | "tried" | "untried";

export function howKnown(version: string, { oldest, tried }: KnownVersions): HowKnown {
  if (version === tried) return "tried";
  return isOlder(version, oldest) ? "old" : "untried";
}

export function isOlder(version: string, minimum: string): boolean {
  const [a, b] = [version, minimum].map((text) => text.split(".").map(Number)) as [number[], number[]];
  for (let i = 0; i < 3; i += 1) {
    if (a[i] !== b[i]) return a[i]! < b[i]!;
  }
  return false;
}
