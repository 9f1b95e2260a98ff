// What our OpenCode plugin hands to the hook process, and what it gets back.
import { z } from "zod";
import { PLUGIN_HOOKS } from "./host.js";

export const PluginNoteSchema = z.looseObject({
  hook: z.enum(PLUGIN_HOOKS),
  directory: z.string().min(1),
  sessionID: z.string().min(1),
  caller: z.looseObject({ agentId: z.string().optional(), agentName: z.string().optional() }).optional(),
  resumed: z.boolean().optional(),
  spawn: z.looseObject({ agentName: z.string(), prompt: z.string().optional() }).optional(),
  input: z.unknown(),
  output: z.unknown(),
});

export const PluginAnswerSchema = z.strictObject({
  context: z.array(z.string()),
  warnings: z.array(z.string()),
  deny: z.string().nullable(),
  rewrite: z.string().nullable(),
});
