// What our OpenCode plugin hands to the hook process, and what it gets back.
import { z } from "zod";

const hooks = [
  "session.created",
  "chat.message",
  "command.execute.before",
  "tool.execute.before",
  "tool.execute.after",
  "experimental.session.compacting",
  "dispose",
] as const;

export const PluginNoteSchema = z.looseObject({
  hook: z.enum(hooks),
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
