// What market commands share: the daemon they talk to, the task they are about.
import { z } from "zod";
import { flag, positional } from "../../../cli/fields.js";

export const CLAWNET = {
  clawnet: flag(z.string().optional(), {
    value: "<host:port>",
    about: "the ClawNet daemon (default: 127.0.0.1:3998)",
  }),
};

export const YES = { yes: flag(z.boolean().default(false), { short: "y", about: "do not ask" }) };

export const TASK = { id: positional(z.string(), { about: "task id, or enough of its beginning" }) };

export const OWN_TASK = { id: positional(z.string(), { about: "your task's id, or enough of its beginning" }) };
