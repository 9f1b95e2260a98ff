// What a policy means, in words for an agent and for a person.
import type { Limits, Policy } from "./policy.js";

/** For an agent: how it is used, and what is refused. */
export function describePolicy({ name, service, limits }: Policy, variable: string): string {
  const allowed = limitWords(limits).join("; ");
  const only = allowed === "" ? "" : ` (${allowed})`;
  switch (service?.kind) {
    case "http":
      return `${name}: send requests to $${variable}_URL instead of ${service.bases[0]}${only}; the key is added on the way and you never see it, so $${variable} is a stand-in`;
    case "git":
      return `${name}: git ${limits.readOnly ? "fetches" : "fetches and pushes"} ${service.repository} as it is${only}; the token is added on the way and you never see it`;
    case "postgresql":
      return `${name}: connect with $${variable}_URL${only}; it leads to the database, and its password is no secret of the database's`;
    case "ssh":
      return `${name}: ssh uses the key through $SSH_AUTH_SOCK${only}; you never see it${service.knownHosts.length === 0 ? "" : "; $GIT_SSH_COMMAND is ssh that knows the hosts' keys"}`;
    default:
      return name;
  }
}

/** Limits that are set, one phrase each. */
export function limitWords(limits: Limits): string[] {
  const { readOnly, methods, paths, endpoints, tables, rate, calls, bytes, window, notBefore, roles } = limits;
  const some = (items: readonly string[]) =>
    items.length > 6 ? `${items.slice(0, 6).join(", ")} and ${items.length - 6} more` : items.join(", ");
  const clock = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  return [
    ...(readOnly ? ["read only"] : []),
    ...(methods === null ? [] : [`methods ${some(methods)}`]),
    ...(paths === null ? [] : [`paths ${some(paths.map(({ text }) => text))}`]),
    ...(endpoints === null ? [] : [`endpoints ${some(endpoints.map(({ method, path }) => `${method} ${path.text}`))}`]),
    ...(tables === null ? [] : [`tables ${some(tables)}`]),
    ...(rate === null ? [] : [`${rate.calls} uses per ${rate.perMs / 1000} s`]),
    ...(calls === null ? [] : [`${calls} uses`]),
    ...(bytes === null ? [] : [`${bytes} bytes`]),
    ...(window === null ? [] : [`${clock(window.from)}-${clock(window.to)} UTC`]),
    ...(notBefore === null ? [] : [`from ${notBefore}`]),
    ...(roles === null ? [] : [`for ${some(roles)}`]),
  ];
}
