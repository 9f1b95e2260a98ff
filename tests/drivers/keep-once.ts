// Keeps Claude's login of each home once, in a process of its own: what it finds mounted is up to whoever starts it.
import { loadDriver } from "../../src/drivers/index.js";
import { keepLogin } from "../../src/run/agents/keep-login.js";

const driver = await loadDriver("claude");
const { signal } = new AbortController();
for (const HOME of process.argv.slice(2))
  console.log(await keepLogin({ driver, env: { ...process.env, HOME }, sandbox: "off", signal }));
