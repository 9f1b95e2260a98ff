import { command } from "../../../cli/command.js";
import { DIR } from "../flags.js";
import { listCredentials } from "./credentials.js";
import { identityFlag } from "./credentials-flags.js";
import { credentialLines } from "./credentials-text.js";

export default command(listCredentials, {
  flags: { ...DIR, ...identityFlag },
  about: [
    "Without an identity the manifest alone is read; with one, the restrictions inside the vault are shown too. Values never are.",
  ],
  examples: [["nutshell credentials --dir my-task", "what the task carries, and when it expires"]],
  text: credentialLines,
});
