import type { Finding } from "../../../errors.js";
import type { Details, Head } from "../../view/model.js";
import type { Loaded, Source } from "../data.js";
import { Outside } from "../markdown.js";
import { Badge, Card, Empty, Facts, Loading, Meter, Tags, type Tone, When } from "../parts.js";
import { Picture } from "../picture.js";
import { routeTo } from "../shell.js";
import { OutcomeBadge, VerdictBand } from "../verdict-band.js";
import { amount, bytes, day, effort, plural, safeLink, visible } from "../visible.js";
import { criterionLink } from "./acceptance.js";

interface OverviewProps {
  readonly head: Head;
  readonly details: Loaded<Details>;
  readonly source: Source;
  readonly side: number;
  readonly now: number;
}

const PRIORITY: Readonly<Record<string, Tone>> = { critical: "bad", high: "warn", medium: "info", low: "plain" };
const COMPLETENESS: Readonly<Record<string, Tone>> = { ready: "good", incomplete: "bad", draft: "warn" };

export function Overview({ head, details, source, side, now }: OverviewProps) {
  const there = details.state === "there" ? details.value : null;
  const delivery = there?.delivery ?? null;
  const title = head.title || (head.kind === "delivery" ? "Delivery" : "Untitled");
  return (
    <>
      <header class="task-head">
        <p class="eyebrow">
          <Badge tone="accent">{visible(head.kind)}</Badge>
          {delivery === null ? null : <OutcomeBadge verdict={delivery.verdict} />}
          {head.priority === "" ? null : (
            <Badge tone={PRIORITY[head.priority] ?? "plain"}>{visible(head.priority)} priority</Badge>
          )}
          {head.effort === "" ? null : <Badge>{effort(head.effort)}</Badge>}
          {head.expiresAt === "" ? null : (
            <Badge tone={head.isExpired ? "bad" : "plain"}>
              {head.isExpired ? "expired" : "due"} <When at={head.expiresAt} now={now} />
            </Badge>
          )}
        </p>
        <h1>{visible(title)}</h1>
        {head.summary === "" ? null : <p class="lead">{visible(head.summary)}</p>}
        {delivery?.summary ? <p class="lead answer">{visible(delivery.summary)}</p> : null}
        {delivery?.summary && delivery.judgedSince.length > 0 ? (
          <p class="soft">Written before {visible(delivery.judgedSince.join(", "))} judged it.</p>
        ) : null}
      </header>
      {delivery === null ? null : <VerdictBand verdict={delivery.verdict} criterionLink={criterionLink} />}
      {head.isNewer ? (
        <p class="notice warn">
          This bundle was made for a newer version of the format ({head.formatVersion}): look, but do not work on it.
        </p>
      ) : null}
      <div class="columns">
        <div>
          {head.kind === "delivery" ? <Whole details={details} /> : <Completeness details={details} />}
          {delivery === null ? null : <DeliveryCard delivery={delivery} />}
          {head.constraints.length === 0 ? null : (
            <Card title="Constraints">
              <ul class="plain-list">
                {head.constraints.map((text) => (
                  <li key={text}>{visible(text)}</li>
                ))}
              </ul>
            </Card>
          )}
          {head.resources.length === 0 ? null : (
            <Card title="Resources">
              <ul class="resources">
                {head.resources.map((row) => (
                  <ResourceRow key={`${row.kind} ${row.target}`} row={row} source={source} side={side} />
                ))}
              </ul>
            </Card>
          )}
        </div>
        <div>
          <Card title="About">
            <Facts
              rows={[
                ...head.publisher.map(({ name, value }) => ({ name: name === "name" ? "publisher" : name, value })),
                { name: "created", value: head.createdAt === "" ? "" : day(head.createdAt) },
                {
                  name: "files",
                  value:
                    head.fileCount === 0 ? "" : `${head.fileCount.toLocaleString("en-US")}, ${bytes(head.totalBytes)}`,
                },
                {
                  name: "packed",
                  value: head.compressedBytes === null ? "" : `${bytes(head.compressedBytes)}, ${head.compression}`,
                },
                ...head.harness,
              ]}
            />
            {there === null ? null : <Tokens details={there} />}
          </Card>
          {head.tags.length === 0 ? null : (
            <Card title="Tags">
              <Facts rows={head.tags.map(({ name, values }) => ({ name, value: <Tags values={values} /> }))} />
            </Card>
          )}
          <Identity head={head} details={there} />
        </div>
      </div>
    </>
  );
}

function Tokens({ details: { contextTokens, contextWindow } }: { details: Details }) {
  const share = contextTokens / contextWindow;
  const words = `about ${amount(contextTokens)} tokens to read, ${Math.round(share * 100)} % of ${amount(contextWindow)}`;
  return (
    <div class="tokens">
      <Meter share={share} label={words} tone={share > 1 ? "bad" : "accent"} />
      <p class="soft">{words}</p>
    </div>
  );
}

/** Of a request: whether everything is there that an agent needs. One line, and what is missing. */
function Completeness({ details }: { details: Loaded<Details> }) {
  if (details.state !== "there") return <Reading details={details} />;
  const { completeness } = details.value;
  return (
    <Card
      title="Completeness"
      aside={<Badge tone={COMPLETENESS[completeness.status] ?? "plain"}>{completeness.status}</Badge>}
    >
      <FindingList findings={allFindings(details.value)} />
      <HashLine details={details.value} />
      {completeness.passed.length === 0 ? null : (
        <details>
          <summary>{plural(completeness.passed.length, "check")} passed</summary>
          <ul class="findings">
            {completeness.passed.map(({ path, message }) => (
              <li key={`${path} ${message}`} class="good">
                <span class="mark" aria-hidden="true">
                  ✓
                </span>
                <span>
                  <strong>{visible(path)}</strong> {visible(message)}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

/** Of a delivery: only whether its files are what its manifest says. Whether the work is any good, the band above says. */
function Whole({ details }: { details: Loaded<Details> }) {
  if (details.state !== "there") return <Reading details={details} />;
  const wrong = allFindings(details.value).filter(({ severity }) => severity === "error");
  return (
    <Card title="Files">
      {wrong.length === 0 ? null : <FindingList findings={wrong} />}
      <HashLine details={details.value} />
    </Card>
  );
}

function Reading({ details }: { details: Exclude<Loaded<Details>, { state: "there" }> }) {
  return (
    <Card title="Files">
      {details.state === "loading" ? (
        <Loading>reading the bundle and checking every hash</Loading>
      ) : (
        <p class="notice bad">{visible(details.message)}</p>
      )}
    </Card>
  );
}

function allFindings({ completeness, findings }: Details): Finding[] {
  const known = new Set(completeness.findings.map(({ path }) => path));
  const archive = findings.filter(({ path, severity }) => severity !== "info" && !known.has(path));
  return [...completeness.findings, ...archive];
}

function HashLine({ details: { counts } }: { details: Details }) {
  return (
    <p class="soft checks">
      {plural(counts.verified, "file")} with a checked hash
      {counts.differs > 0 ? `, ${counts.differs} not as the manifest says` : ""}
      {counts.unverified > 0 ? `, ${counts.unverified} without one` : ""}
    </p>
  );
}

const MARKS = {
  error: ["bad", "✗", "missing:"],
  warning: ["warn", "!", "warning:"],
  info: ["info", "i", "note:"],
} as const;
const MOST = 40;

export function FindingList({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return <Empty>Nothing is missing.</Empty>;
  return (
    <>
      <ul class="findings">
        {findings.slice(0, MOST).map(({ severity, path, message, fix }) => {
          const [tone, mark, word] = MARKS[severity];
          return (
            <li key={`${path} ${message}`} class={tone}>
              <span class="mark" aria-hidden="true">
                {mark}
              </span>
              <span>
                <span class="hidden">{word} </span>
                <strong>{visible(path)}</strong> {visible(message)}
                {fix === undefined ? null : <code class="fix">{visible(fix)}</code>}
              </span>
            </li>
          );
        })}
      </ul>
      {findings.length > MOST ? <p class="soft">and {findings.length - MOST} more</p> : null}
    </>
  );
}

function DeliveryCard({ delivery }: { delivery: NonNullable<Details["delivery"]> }) {
  const { artifacts, percentage } = delivery;
  return (
    <Card title="What came back" aside={<a href={routeTo("acceptance")}>Acceptance</a>}>
      <Facts
        rows={[
          ...delivery.deliverer,
          { name: "finished", value: delivery.completedAt === "" ? "" : day(delivery.completedAt) },
          { name: "strategy", value: delivery.strategy },
          { name: "done, it says", value: percentage === null ? "" : `${percentage} %` },
        ]}
      />
      {artifacts.length === 0 ? null : (
        <ul class="artifacts">
          {artifacts.slice(0, 60).map(({ change, path, lines }) => (
            <li key={`${change} ${path}`}>
              <Badge>{change}</Badge>
              {change === "deleted" ? (
                <code>{visible(path)}</code>
              ) : (
                <a href={routeTo("files", path)}>{visible(path)}</a>
              )}
              <span class="soft">{lines === "" ? "" : `${lines} lines`}</span>
            </li>
          ))}
        </ul>
      )}
      {artifacts.length > 60 ? <p class="soft">and {artifacts.length - 60} more</p> : null}
    </Card>
  );
}

function ResourceRow({ row, source, side }: { row: Head["resources"][number]; source: Source; side: number }) {
  if (row.kind === "image") {
    const path = row.target.replace(/^\.\//, "");
    return (
      <li class="image">
        <Picture load={() => source.image(side, path)} name={`${side} ${path}`} alt={row.title || row.target} />
        <span>
          {visible(row.title)} <a href={routeTo("files", row.target)}>{visible(row.target)}</a>
        </span>
      </li>
    );
  }
  const href = safeLink(row.target);
  const label = visible(row.kind !== "repository" && row.title !== "" ? row.title : row.target);
  return (
    <li>
      <span class="kind">{row.kind}</span>
      {href === null ? <span>{label}</span> : <Outside href={href} text={label} children={label} />}
      {row.kind === "repository" && row.title !== "" ? <span class="soft">{visible(row.title)}</span> : null}
    </li>
  );
}

function Identity({ head, details }: { head: Head; details: Details | null }) {
  return (
    <Card title="Identity">
      <Facts
        rows={[
          { name: "id", value: <span class="hash">{visible(head.id)}</span> },
          ...head.links.map(({ relation, id }) => ({ name: relation, value: <span class="hash">{visible(id)}</span> })),
          { name: "format", value: head.formatVersion },
          {
            name: "content",
            value: details?.contentDigest ? <span class="hash">{details.contentDigest}</span> : "",
          },
          ...(details?.delivery?.digests ?? []).map(({ name, value }) => ({
            name: `${name} digest`,
            value: <span class="hash">{visible(value)}</span>,
          })),
        ]}
      />
    </Card>
  );
}
