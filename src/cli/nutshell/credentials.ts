import { listCredentials } from "../../operations/vault/credentials.js";
import { command } from "../command.js";
import { dirFlag, identityFlag } from "./credentials-flags.js";
import { credentialLines } from "./credentials-text.js";

export default command(listCredentials, {
  flags: { ...dirFlag, ...identityFlag },
  about: [
    "Without an identity the manifest alone is read; with one, the restrictions inside the vault are shown too. Values never are.",
  ],
  examples: [["nutshell credentials --dir my-task", "what the task carries, and when it expires"]],
  text: credentialLines,
});
