import { command } from "../../../cli/command.js";
import { DIR } from "../flags.js";
import { exportFlags, identityFlag } from "./credentials-flags.js";
import { revoke } from "./revoke.js";
import { rotateLines } from "./rotate.text.js";

export default command(revoke, {
  positionals: [{ name: "name", about: "the credential" }],
  flags: { ...exportFlags, ...identityFlag, ...DIR },
  about: [
    "The value leaves this vault and is handed out no more. Bundles given away before still hold it: revoke it where it was issued, too.",
  ],
  examples: [["nutshell revoke staging-db --export revoked.rotation.json", "here, and for every holder of the bundle"]],
  text: rotateLines,
});
