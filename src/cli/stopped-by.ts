/** What ends a command from outside, and the status it ends with: as a shell counts them. */
export const STOPPING = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** The status of a command that was stopped; a question that was left is a Ctrl-C. */
export function stoppedBy(reason: unknown): number {
  if (reason === "SIGPIPE") return 141;
  return STOPPING[reason as keyof typeof STOPPING] ?? STOPPING.SIGINT;
}
