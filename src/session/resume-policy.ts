// Whether the next session of a role continues an earlier one. Pure; the reason is recorded with every spawn.
export interface EarlierSession {
  readonly agent: string;
  readonly session: string;
  readonly task: number;
  readonly files: readonly string[];
  /** Set when someone else edited one of its files afterwards. */
  readonly editedSince: boolean;
}

export interface ResumeFacts {
  readonly tier: "persistent" | "bounded" | "ephemeral";
  readonly policy?: "fresh" | "resume_if_same_artifact" | "resume";
  /** Sessions of the same role in this run, oldest first. */
  readonly earlier: readonly EarlierSession[];
  /** Files the task is about, as far as they are known. */
  readonly files: readonly string[];
  readonly canResume: boolean;
}

export interface ResumeChoice {
  readonly session: EarlierSession | null;
  readonly reason: string;
  /** A continued bounded session must not trust what it remembers of its files. */
  readonly reread: boolean;
}

export function chooseSession({ tier, policy, earlier, files, canResume }: ResumeFacts): ResumeChoice {
  const fresh = (reason: string): ResumeChoice => ({ session: null, reason, reread: false });
  if (policy === "fresh") return fresh("the task asks for a fresh session");
  if (policy === undefined && tier === "ephemeral") return fresh("this role always starts fresh");
  if (!canResume) return fresh("this agent cannot continue a session");
  const latest = earlier.at(-1);
  if (latest === undefined) return fresh("first session of this role");
  if (policy === "resume" && tier !== "bounded") return resumed(latest, "the task asks to continue", false);
  if (tier === "persistent" && policy === undefined) return resumed(latest, "this role continues inside a run", false);

  const bounded = policy !== "resume";
  const match = earlier.findLast(({ files: theirs }) => !bounded || theirs.some((file) => files.includes(file)));
  if (match === undefined) return fresh("no earlier session worked on these files");
  if (match.editedSince) return fresh("someone else edited its files since");
  return resumed(match, bounded ? "same role, same files, no edit by others since" : "the task asks to continue", true);
}

function resumed(session: EarlierSession, reason: string, reread: boolean): ResumeChoice {
  return { session, reason, reread };
}

/** Which how-role is asked when a task of this role failed. */
export function diagnosisRole(owner: string): string {
  const roles: Readonly<Record<string, string>> = {
    writer: "strategist",
    researcher: "postdoc",
    designer: "architect",
    strategist: "architect",
    postdoc: "strategist",
    architect: "strategist",
  };
  return roles[owner] ?? "architect";
}
