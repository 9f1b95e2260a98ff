import { command } from "../../../cli/command.js";
import { count } from "../../../cli/text.js";
import { DIR } from "../flags.js";
import { applyRotation } from "./apply-rotation.js";

export default command(applyRotation, {
  positionals: [{ name: "file", about: "the publisher's rotation file" }],
  flags: { ...DIR },
  about: [
    "Accepted only when it is signed by the key the bundle's manifest names (publisher.public_key), is for this bundle, and is newer than the last one.",
  ],
  examples: [["nutshell apply-rotation new.rotation.json --dir my-task", "renew what you hold"]],
  text: ({ sequence, credentials, vault }) => [
    `Applied: rotation ${sequence}, ${count(credentials.length, "credential")} in ${vault}`,
  ],
});
