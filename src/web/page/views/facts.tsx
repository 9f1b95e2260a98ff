// The smaller views: interfaces, acceptance, timeline, access, and the rest of the manifest.
import type { Details, Head } from "../../view/model.js";
import { Code } from "../code.js";
import { Outside } from "../markdown.js";
import { Badge, Card, Empty, Facts, type Tone, Verdict, When } from "../parts.js";
import { routeTo } from "../shell.js";
import { day, safeLink, visible } from "../visible.js";

export function ApisView({ head, details }: { head: Head; details: Details }) {
  return (
    <>
      <h1>Interfaces</h1>
      {head.baseUrls.length === 0 && head.apiAuth === "" ? null : (
        <Card title="Where">
          <Facts
            rows={[
              ...head.baseUrls.map(({ name, value }) => ({ name, value: address(value) })),
              { name: "authentication", value: head.apiAuth },
            ]}
          />
        </Card>
      )}
      {details.endpoints.map((row) => (
        <section class="card endpoint" key={`${row.method} ${row.path}`}>
          <h2>
            <Badge tone={METHODS[row.method] ?? "plain"}>{visible(row.method)}</Badge> <code>{visible(row.path)}</code>
          </h2>
          {row.description === "" ? null : <p>{visible(row.description)}</p>}
          <Facts
            rows={[
              ...row.params.map(({ name, value }) => ({ name, value: <code>{visible(value)}</code> })),
              { name: "body", value: schema(row.bodySchema) },
              { name: "response", value: schema(row.responseSchema) },
            ]}
          />
        </section>
      ))}
    </>
  );
}

const METHODS: Readonly<Record<string, Tone>> = {
  GET: "info",
  POST: "good",
  PUT: "warn",
  PATCH: "warn",
  DELETE: "bad",
};

function address(value: string) {
  const href = safeLink(value);
  return href === null ? visible(value) : <Outside href={href} text={value} children={visible(value)} />;
}

/** References in apis/endpoints.json are relative to apis/. */
function schema(path: string) {
  return path === "" ? "" : <a href={routeTo("files", `apis/${path.replace(/^\.\//, "")}`)}>{visible(path)}</a>;
}

const EVIDENCE: Readonly<Record<string, string>> = {
  proven: "the harness ran it",
  judged: "a reviewer or person said so",
  said: "only the agent claims it",
};

export function AcceptanceView({ head, details }: { head: Head; details: Details }) {
  return (
    <>
      <h1>Acceptance</h1>
      {details.criteria.length === 0 ? null : (
        <Card title="Criteria">
          <ul class="criteria">
            {details.criteria.map((row) => (
              <li key={row.id}>
                <Verdict verdict={row.verdict} />
                <div>
                  <p>
                    <strong>{visible(row.id)}</strong> {visible(row.description)}
                  </p>
                  <p class="soft">
                    {visible(row.type)}
                    {row.how === "" ? null : (
                      <>
                        {" · "}
                        <code>{visible(row.how)}</code>
                      </>
                    )}
                    {row.expected === "" ? null : (
                      <>
                        {" · expects "}
                        <code>{visible(row.expected)}</code>
                      </>
                    )}
                  </p>
                  <Told evidence={row.evidence} note={row.note} />
                  {row.provesNothing ? (
                    <p class="notice warn">This test also passes on the untouched request.</p>
                  ) : null}
                  {row.log === "" ? null : <a href={routeTo("files", row.log)}>Log</a>}
                </div>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {details.checklist.length === 0 ? null : (
        <Card title="Checklist">
          <ul class="criteria">
            {details.checklist.map((row) => (
              <li key={row.item}>
                <Verdict verdict={row.verdict} />
                <div>
                  <p>{visible(row.item)}</p>
                  <Told evidence={row.evidence} note={row.note} />
                </div>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {head.testScripts.length === 0 ? null : (
        <Card title="Test scripts">
          <ul class="plain-list">
            {head.testScripts.map((path) => (
              <li key={path}>
                <a href={routeTo("files", path)}>{visible(path)}</a>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function Told({ evidence, note }: { evidence: string; note: string }) {
  if (evidence === "" && note === "") return null;
  return (
    <p class="soft">
      {evidence === "" ? null : (
        <>
          <Badge tone={evidence === "proven" ? "good" : evidence === "said" ? "warn" : "info"}>
            {visible(evidence)}
          </Badge>{" "}
          {EVIDENCE[evidence] ?? ""}
          {note === "" ? "" : ": "}
        </>
      )}
      {note === "" ? null : <span>{visible(note)}</span>}
    </p>
  );
}

const KINDS: Readonly<Record<string, Tone>> = {
  ...{
    checkpoint: "info",
    decision: "accent",
    issue: "warn",
    credential: "plain",
    created: "plain",
    completed: "good",
  },
};

export function TimelineView({ details }: { details: Details }) {
  return (
    <>
      <h1>Timeline</h1>
      <ol class="timeline">
        {details.timeline.map((row, index) => (
          <li key={index} class={KINDS[row.kind]}>
            <div class="when">{row.at === "" ? "" : day(row.at)}</div>
            <div class="what">
              <Badge tone={KINDS[row.kind] ?? "plain"}>{row.kind}</Badge>
              <p>{visible(row.text)}</p>
              {row.detail === "" ? null : <p class="soft">{visible(row.detail)}</p>}
            </div>
          </li>
        ))}
      </ol>
      {details.delivery?.fullLog ? (
        <p>
          <a href={routeTo("files", details.delivery.fullLog)}>The full log</a>
        </p>
      ) : null}
    </>
  );
}

const EXPIRY: Readonly<Record<string, Tone>> = {
  ...{ valid: "good", soon: "warn", expired: "bad", "no expiry": "warn", unreadable: "bad" },
};

export function AccessView({ head, now }: { head: Head; now: number }) {
  return (
    <>
      <h1>Access</h1>
      <p class="lead">
        What the vault gives access to. Values are never shown, here or anywhere in this page.
        {head.encryption === "" ? "" : ` Encrypted with ${visible(head.encryption)}.`}
      </p>
      {head.encryption === "none" ? <p class="notice bad">The vault is not encrypted.</p> : null}
      {head.credentials.length === 0 ? (
        <Empty>The manifest names no credentials.</Empty>
      ) : (
        <Card>
          <div class="table-scroll">
            <table>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Type</th>
                  <th>Access</th>
                  <th>Limit</th>
                  <th>Expires</th>
                </tr>
              </thead>
              <tbody>
                {head.credentials.map((row) => (
                  <tr key={row.name}>
                    <td>
                      <strong>{visible(row.name)}</strong>
                    </td>
                    <td>{visible(row.type)}</td>
                    <td>{visible(row.access) || "–"}</td>
                    <td>{visible(row.rateLimit) || "–"}</td>
                    <td>
                      <Badge tone={EXPIRY[row.state] ?? "plain"}>{row.state}</Badge>{" "}
                      {row.expiresAt === "" ? null : <When at={row.expiresAt} now={now} />}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Card>
      )}
    </>
  );
}

export function MoreView({ head }: { head: Head }) {
  return (
    <>
      <h1>Manifest</h1>
      {head.extensions.map(({ name, json }) => (
        <Card key={name} title={`Extension: ${visible(name)}`}>
          <Code text={json} language="json" />
        </Card>
      ))}
      <Card title="nutshell.json">
        <Code text={head.manifestJson} language="json" />
      </Card>
    </>
  );
}
