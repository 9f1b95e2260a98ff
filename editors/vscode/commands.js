// What is run for a bundle, without anything of the editor: arguments are a list, never a line for a shell.

const VERBS = ["check", "inspect", "verify"];

/** The arguments of `nutshell` for a task; throws for one that is not ours. */
function argumentsOf({ verb, path, request }) {
  if (!VERBS.includes(verb) || typeof path !== "string" || path === "") throw new Error(`no such task: ${verb}`);
  // A name that begins like a flag is still a name.
  const name = path.startsWith("-") ? `./${path}` : path;
  if (verb === "check") return ["check", "--dir", name];
  if (verb === "inspect") return ["inspect", name];
  return ["verify", name, ...(request === undefined ? [] : ["--request", request]), "--rerun"];
}

/** What a folder's manifest says it is; null when it is none of ours. */
function kindOf(text) {
  try {
    const { bundle_type: type } = JSON.parse(text);
    return type === "request" || type === "delivery" ? type : null;
  } catch {
    return null;
  }
}

module.exports = { VERBS, argumentsOf, kindOf };
