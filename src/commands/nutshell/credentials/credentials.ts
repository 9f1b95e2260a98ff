import { z } from "zod";
import { command } from "../../../cli/command.js";
import { folderTarget } from "../../../request/open/target.js";
import { CredentialList, readCredentials } from "../../../request/vault/credential-list.js";
import { DIR } from "../flags.js";
import { aboutFolder, aboutList } from "./about-folder.js";
import { IDENTITY } from "./credentials-flags.js";
import { credentialLines } from "./credentials-text.js";

const credentials = command({
  name: "credentials",
  summary: "what the vault gives access to, and until when",
  input: z.object({ ...DIR, ...IDENTITY }),
  output: CredentialList,
  about: [
    "Without an identity the manifest alone is read; with one, the restrictions inside the vault are shown too. Values never are.",
  ],
  examples: [["nutshell credentials --dir my-task", "what the task carries, and when it expires"]],
  async run({ dir, identity }, context) {
    const list = await readCredentials(folderTarget(dir, context).path, identity, context);
    return aboutList(list, dir);
  },
  text: credentialLines,
});
export default aboutFolder(credentials);
