// What the extension shares with the package is copied in when it is packed, so that there is one of each to keep true.
import { copyFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
mkdirSync(at("./schemas"), { recursive: true });
for (const name of ["manifest", "criteria", "endpoints", "delivery"]) {
  copyFileSync(at(`../../schemas/${name}.json`), at(`./schemas/${name}.json`));
}
copyFileSync(at("../../LICENSE"), at("./LICENSE"));
