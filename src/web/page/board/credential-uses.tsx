// What was done with the credentials that were lent to a run's agents: each use, and why one was refused.
import type { CredentialUseRow } from "../../board/model.js";
import { Badge, Card } from "../parts.js";
import { bytes, clock, visible } from "../visible.js";

export function CredentialUses({ uses }: { readonly uses: readonly CredentialUseRow[] }) {
  if (uses.length === 0) return null;
  return (
    <Card title="Credentials used" aside={<span class="soft">the latest; all are in the delivery's log</span>}>
      <ul class="brief">
        {uses.map(({ name, at, by, what, allowed, why, bytes: count }, index) => (
          <li key={index}>
            <Badge tone={allowed ? "good" : "bad"}>{allowed ? "allowed" : "refused"}</Badge>{" "}
            <span class="soft">{clock(at)}</span> <strong>{visible(name)}</strong> {visible(what)}{" "}
            <span class="soft">
              {visible(by)}, {bytes(count)}
            </span>
            {why === "" ? null : <p class="soft">{visible(why)}</p>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
