// The smaller views: interfaces, timeline, access, and the rest of the manifest.
import type { Details, Head } from "../../view/model.js";
import { Code } from "../code.js";
import { Outside } from "../markdown.js";
import { Badge, Card, Empty, Facts, type Tone, When } from "../parts.js";
import { routeTo } from "../shell.js";
import { TableScroll } from "../table-scroll.js";
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

const KINDS: Readonly<Record<string, Tone>> = {
  ...{
    checkpoint: "info",
    decision: "accent",
    issue: "warn",
    credential: "plain",
    created: "plain",
  },
};

export function TimelineView({ details }: { details: Details }) {
  // The end is as good as what was delivered.
  const toneOf = (kind: string): Tone =>
    kind === "completed" ? (details.delivery?.verdict.tone ?? "plain") : (KINDS[kind] ?? "plain");
  return (
    <>
      <h1>Timeline</h1>
      <ol class="timeline">
        {details.timeline.map((row, index) => (
          <li key={index} class={toneOf(row.kind)}>
            <div class="when">{row.at === "" ? "" : day(row.at)}</div>
            <div class="what">
              <Badge tone={toneOf(row.kind)}>{row.kind === "completed" ? "end" : row.kind}</Badge>
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
          <TableScroll label="credentials">
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
          </TableScroll>
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
