// The rooms of src/bundle build on one another, and never in a circle.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const source = fileURLToPath(new URL("../../src/bundle", import.meta.url));

// Each room may import those before it.
const ROOMS = ["format", "compression", "manifest", "archive", "check", "write", "read", "parts"];

it("imports only from rooms below", () => {
  const wrong: string[] = [];
  for (const room of readdirSync(source).filter((name) => !name.includes("."))) {
    const allowed = ROOMS.slice(0, ROOMS.indexOf(room) + 1);
    for (const name of readdirSync(join(source, room))) {
      const text = readFileSync(join(source, room, name), "utf8");
      for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
        const inside = relative(source, resolve(source, room, target!));
        if (!inside.startsWith("..") && !allowed.includes(dirname(inside))) wrong.push(`${room}/${name} → ${target}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
