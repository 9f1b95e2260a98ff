import { command } from "../../../cli/command.js";
import { keygen } from "./keygen.js";

export default command(keygen, {
  flags: {
    output: { short: "o", value: "<file>", about: "where to put it" },
    peer: { about: "an Ed25519 identity: receives sealed bundles, signs rotations" },
  },
  about: [
    "The file is readable by you alone and is never overwritten. Keep it out of bundle folders; give away only the public key that is printed.",
  ],
  examples: [
    ["nutshell keygen", "an age identity, which opens vaults"],
    ["nutshell keygen --peer", "an Ed25519 identity and its peer id"],
  ],
  text: ({ path, recipient, public_key, peer_id }) => [
    `Identity: ${path}`,
    ...(recipient === undefined ? [] : [`Recipient: ${recipient}`]),
    ...(public_key === undefined ? [] : [`Public key: ${public_key}`, `Peer id: ${peer_id}`]),
  ],
});
