import type { World } from "./table.js";
import { NODE_WORLDS } from "./worlds/node.js";
import { PYTHON_WORLDS } from "./worlds/python.js";
import { REPOSITORY_WORLDS } from "./worlds/repository.js";
import { RUNNER_WORLDS } from "./worlds/runners.js";
import { SYSTEM_WORLDS } from "./worlds/system.js";

export interface Honest {
  readonly world: World;
  readonly by: "work" | "run";
}
const worlds = [...NODE_WORLDS, ...PYTHON_WORLDS, ...SYSTEM_WORLDS, ...RUNNER_WORLDS, ...REPOSITORY_WORLDS];
export const HONEST: readonly Honest[] = worlds.map((world) => ({ world, by: "work" }));
