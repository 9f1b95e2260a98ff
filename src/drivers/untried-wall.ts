import { type Sandbox, seatbeltProfile } from "../process/index.js";
import type { SessionRequest } from "./driver.js";

const SEATBELT = "sandbox-exec";

/** On macOS, and only when the person asks for it: nobody has tried this wall, so it counts for nothing elsewhere. */
export function untriedWall(
  { env, onEvent }: Pick<SessionRequest, "env" | "onEvent">,
  policy: () => Sandbox,
  platform: string = process.platform,
): string[] {
  if (env.NEXUS_SANDBOX !== SEATBELT) return [];
  const isThere = platform === "darwin";
  const message = isThere
    ? `${SEATBELT} surrounds this agent by a profile that nobody has tried: do not count on it`
    : `NEXUS_SANDBOX=${SEATBELT} is for macOS: nothing surrounds this agent`;
  onEvent?.({ type: "warning", message });
  return isThere ? [`/usr/bin/${SEATBELT}`, "-p", seatbeltProfile(policy())] : [];
}
