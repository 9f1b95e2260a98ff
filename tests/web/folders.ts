// Folders of files that go away with the test.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type Content = Readonly<Record<string, string | Buffer | object>>;

export function write(folder: string, files: Content): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      typeof content === "string" || Buffer.isBuffer(content) ? content : `${JSON.stringify(content, null, 2)}\n`,
    );
  }
}

export function temporary(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "nut-web-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
