import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

it("carries each package of the cryptography once: what is audited is what is shipped", () => {
  const lock = readFileSync(fileURLToPath(new URL("../../package-lock.json", import.meta.url)), "utf8");
  const places = Object.keys((JSON.parse(lock) as { packages: object }).packages).filter((path) =>
    /@(?:noble|scure)\/[\w-]+$/.test(path),
  );
  expect(places).toEqual([
    "node_modules/@noble/ciphers",
    "node_modules/@noble/curves",
    "node_modules/@noble/hashes",
    "node_modules/@noble/post-quantum",
    "node_modules/@scure/base",
  ]);
});
