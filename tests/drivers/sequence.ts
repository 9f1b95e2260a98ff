import type { Reply, Rule, Trouble } from "../hosts/scripted-model/server.js";

export type Step = Reply | { readonly fail: string | Trouble };

/** One answer after the other, for requests that offer tools: the rest (titles, summaries) is not the conversation. */
export function sequence(...replies: readonly Step[]): Rule[] {
  return replies.map((reply, i): Rule => {
    const rule = { name: `turn ${i}`, when: { tool: /./ }, times: 1 };
    return typeof reply === "object" && "fail" in reply
      ? { ...rule, ...reply, reply: [] }
      : { ...rule, reply: [reply] };
  });
}
