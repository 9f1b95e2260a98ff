// The kept lists of breakages: tests/mutations/*.json. Each entry is one way to break the product and the tests that must
// notice it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

export const Breakage = z.strictObject({
  id: z.string().regex(/^\S+$/),
  file: z.string(),
  /** Exact text that occurs once in the file. */
  find: z.string().min(1),
  replace: z.string(),
  tests: z.array(z.string()).min(1),
  /** The promise of ARCHITECTURE.md that it breaks. */
  promise: z
    .string()
    .regex(/^P\d+$/)
    .nullable(),
  /** Why no test can notice this one. */
  survives: z.string().min(1).optional(),
});
export type Breakage = z.infer<typeof Breakage>;

/** Throws when a list is not one. */
export function readLists(root: string): Breakage[] {
  const folder = join(root, "tests/mutations");
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.sort().flatMap((name) => {
    const parsed = z.array(Breakage).safeParse(JSON.parse(readFileSync(join(folder, name), "utf8")));
    if (!parsed.success) throw new Error(`tests/mutations/${name}: ${z.prettifyError(parsed.error)}`);
    return parsed.data;
  });
}

/** What is wrong with an entry as the tree is now; empty when it can be tried. */
export function problemsOf({ file, find, replace, tests }: Breakage, root: string): string[] {
  const problems = tests.filter((test) => !existsSync(join(root, test))).map((test) => `no test ${test}`);
  if (find === replace) problems.push("it changes nothing");
  if (!existsSync(join(root, file))) return [...problems, `no file ${file}`];
  const times = readFileSync(join(root, file), "utf8").split(find).length - 1;
  if (times !== 1) problems.push(`its text occurs ${times} times in ${file}`);
  return problems;
}
