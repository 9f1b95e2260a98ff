import { listCredentials } from "../../operations/vault/credentials.js";
import { command } from "../command.js";
import { identityFlag } from "./credentials-flags.js";
import { credentialLines } from "./credentials-text.js";
import { DIR } from "./flags.js";

export default command(listCredentials, {
  flags: { ...DIR, ...identityFlag },
  about: [
    "Without an identity the manifest alone is read; with one, the restrictions inside the vault are shown too. Values never are.",
  ],
  examples: [["nutshell credentials --dir my-task", "what the task carries, and when it expires"]],
  text: credentialLines,
});
