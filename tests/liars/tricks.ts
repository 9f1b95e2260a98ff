import type { Trick } from "./table.js";
import { EXIT } from "./tricks/exit.js";
import { HARD_CODED } from "./tricks/hard-coded.js";
import { LATER } from "./tricks/later.js";
import { LINED } from "./tricks/lines.js";
import { RECORD } from "./tricks/record.js";
import { REVIEWED } from "./tricks/review.js";
import { ROOM } from "./tricks/room.js";
import { SHAPED } from "./tricks/shapes.js";
import { SILENT } from "./tricks/silent.js";
import { STEERING } from "./tricks/steering.js";
import { SURROUNDED } from "./tricks/surroundings.js";
import { WARY } from "./tricks/wary.js";

export const TRICKS: readonly Trick[] = [
  ...STEERING,
  ...EXIT,
  ...ROOM,
  ...REVIEWED,
  ...RECORD,
  ...WARY,
  ...SHAPED,
  ...LATER,
  ...SILENT,
  ...SURROUNDED,
  ...LINED,
  ...HARD_CODED,
];
