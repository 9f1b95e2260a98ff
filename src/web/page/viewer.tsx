// The viewer: one bundle, or two beside each other.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Details, Files, Head } from "../view/model.js";
import { type Answering, ask, onAnswering } from "./ask-server.js";
import { type Loaded, openSource, type Source, useLoaded } from "./data.js";
import { Badge, Empty, Loading } from "./parts.js";
import { type Found, Search } from "./search.js";
import { type Params, routeTo, Shell, setParam, useNow, useRoute, type View } from "./shell.js";
import { CopyButton } from "./verdict-band.js";
import { AcceptanceView } from "./views/acceptance.js";
import { ChangesView } from "./views/changes.js";
import { DocumentsView } from "./views/documents.js";
import { AccessView, ApisView, MoreView, TimelineView } from "./views/facts.js";
import { FilesView } from "./views/files.js";
import { Overview } from "./views/overview.js";
import { visible } from "./visible.js";

const source = openSource();

function App() {
  const heads = useLoaded(() => source.heads(), []);
  if (heads.state === "loading") return <Loading>opening</Loading>;
  if (heads.state === "failed") return <Gone message={heads.message} />;
  return <Viewer source={source} heads={heads.value} />;
}

function Gone({ message }: { message: string }) {
  return (
    <main class="alone">
      <h1>Nothing to show</h1>
      <Empty>{visible(message)}</Empty>
    </main>
  );
}

function Viewer({ source, heads }: { source: Source; heads: readonly Head[] }) {
  const [view, rest, params] = useRoute();
  const side = params.side === "0" ? 0 : heads.length - 1;
  const now = useNow(60_000);
  const head = heads[side]!;
  const details = useDetails(source, side, heads);
  const views = viewsOf(head, heads.length, details);
  const current = views.some(({ id }) => id === view) ? view : "overview";
  const files = useFiles(source, side, { wanted: true, isRead: details.state !== "loading" });
  useEffect(() => {
    document.title = `${visible(head.title || head.kind)} · Nutshell`;
  }, [head]);
  return (
    <Shell
      product="Nutshell"
      views={views}
      current={current}
      bar={
        <>
          {heads.length > 1 ? (
            <Sides
              heads={heads}
              side={side}
              onChoose={(at) => setParam("side", at === heads.length - 1 ? "" : String(at))}
            />
          ) : (
            <span class="file">{visible(head.side.label)}</span>
          )}
          {source.isExport ? <Badge>exported page</Badge> : null}
          <Search
            keys={[
              ["j k", "next and previous changed file"],
              ["n p", "next and previous change"],
              ["v", "tick a changed file as viewed"],
            ]}
            known={() => known(head, views, files, details)}
            ask={async (words) =>
              (await source.search(words)).map(({ side: at, path, line, text }) => ({
                kind: "content",
                text: `${path}:${line}`,
                detail: text,
                href: routeTo("files", path, { side: String(at), words }),
              }))
            }
          />
        </>
      }
    >
      {source.isExport ? null : <Ended heads={heads} />}
      <Body key={side} {...{ source, heads, head, side, details, files, current, rest, params, now }} />
    </Shell>
  );
}

/** What can be found without asking: views, files, documents, criteria. */
function known(head: Head, views: readonly View[], files: Files, details: Loaded<Details>): Found[] {
  const there = details.state === "there" ? details.value : null;
  return [
    ...views.map(({ id, label }) => ({ kind: "view", text: label, detail: "", href: routeTo(id) })),
    ...(there?.criteria ?? []).map(({ id, description, verdict }) => ({
      kind: "criterion",
      text: id,
      detail: `${description} (${verdict})`,
      href: routeTo("acceptance", id),
    })),
    ...(there?.checklist ?? head.checklist.map((item) => ({ item, verdict: "open" }))).map(({ item, verdict }) => ({
      kind: "checklist",
      text: item,
      detail: verdict,
      href: routeTo("acceptance"),
    })),
    ...files.rows.map(([path]) => ({ kind: "file", text: path, detail: "", href: routeTo("files", path) })),
  ];
}

/** Over what was read so far, which stays. The server is asked now and then, for a page that asks nothing by itself. */
function Ended({ heads }: { heads: readonly Head[] }) {
  const [answering, setAnswering] = useState<Answering>("there");
  useEffect(() => {
    onAnswering(setAnswering);
    const look = () => {
      if (!document.hidden) void ask("/ticket?for=/").catch(() => {});
    };
    const timer = setInterval(look, 5_000);
    return () => clearInterval(timer);
  }, []);
  if (answering === "there") return null;
  const command = `nutshell serve ${heads.map(({ side }) => shellWord(side.path)).join(" ")}`;
  return (
    <div class="notice warn ended" role="alert">
      {answering === "gone" ? (
        <>
          The viewer was ended; what is shown was read before. Start it again and open the link it prints:{" "}
          <code class="fix">{visible(command)}</code> <CopyButton text={command} />
        </>
      ) : (
        "This page is not let in: the viewer was started again. Open the link that the terminal shows."
      )}
    </div>
  );
}

interface BodyProps {
  readonly source: Source;
  readonly heads: readonly Head[];
  readonly head: Head;
  readonly side: number;
  readonly details: Loaded<Details>;
  readonly files: Files;
  readonly current: string;
  readonly rest: string;
  readonly params: Params;
  readonly now: number;
}

function Body({ source, heads, head, side, details, files, current, rest, params, now }: BodyProps) {
  if (current === "overview") return <Overview {...{ source, head, side, details, now }} />;
  if (current === "documents") return <DocumentsView {...{ source, side, head }} path={rest} />;
  if (current === "files")
    return <FilesView key={String(files.complete)} {...{ source, side, ...files }} path={rest} />;
  if (current === "access") return <AccessView head={head} now={now} />;
  if (current === "more") return <MoreView head={head} />;
  if (current === "changes") return <ChangesView source={source} heads={heads} path={rest} params={params} />;
  if (details.state === "loading") return <Loading>reading the bundle</Loading>;
  if (details.state === "failed") return <Empty>{visible(details.message)}</Empty>;
  if (current === "apis") return <ApisView head={head} details={details.value} />;
  if (current === "acceptance") return <AcceptanceView head={head} details={details.value} chosen={rest} />;
  return <TimelineView details={details.value} />;
}

function Sides({ heads, side, onChoose }: { heads: readonly Head[]; side: number; onChoose: (side: number) => void }) {
  return (
    <div class="tabs sides" role="group" aria-label="which bundle">
      {heads.map((head, index) => (
        <button type="button" key={index} aria-pressed={index === side} onClick={() => onChoose(index)}>
          {visible(head.side.label)}
        </button>
      ))}
    </div>
  );
}

/** Asked for after the head is on the screen: it waits for the whole bundle. */
function useDetails(source: Source, side: number, heads: readonly Head[]): Loaded<Details> {
  const request = side === 1 && heads[0]?.kind === "request" ? heads[0].side.path : "";
  return useLoaded(async () => {
    const [own, asked] = await Promise.all([
      source.details(side),
      request === "" ? null : source.details(0).catch(() => null),
    ]);
    return withAsked(naming(own, request), asked);
  }, [side]);
}

/** A delivery says what came of a criterion; how it is checked stands in the request. */
function withAsked(details: Details, asked: Details | null): Details {
  const byId = new Map(asked?.criteria.map((row) => [row.id, row]));
  const criteria = details.criteria.map((row) => {
    const { type, how, expected } = byId.get(row.id) ?? row;
    return { ...row, type: row.type || type, how: row.how || how, expected: row.expected || expected };
  });
  return { ...details, criteria };
}

/** Commands that need the request name it when it is the other bundle. */
function naming(details: Details, request: string): Details {
  const { delivery } = details;
  if (delivery === null || delivery.verdict.next === null || request === "") return details;
  const command = delivery.verdict.next.command.replace("<request>", shellWord(request));
  const next = { ...delivery.verdict.next, command };
  return { ...details, delivery: { ...delivery, verdict: { ...delivery.verdict, next } } };
}

const shellWord = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** What the manifest claims at once, what is really there when it has been read. */
function useFiles(source: Source, side: number, { wanted, isRead }: { wanted: boolean; isRead: boolean }): Files {
  const [files, setFiles] = useState<Files>({ complete: false, rows: [] });
  useEffect(() => {
    if (!wanted) return;
    let current = true;
    source.files(side, !isRead).then(
      (value) => current && setFiles(value),
      () => {},
    );
    return () => {
      current = false;
    };
  }, [source, side, wanted, isRead]);
  return files;
}

function viewsOf(head: Head, count: number, details: Loaded<Details>): View[] {
  const there = details.state === "there" ? details.value : null;
  const isDelivery = there !== null && there.delivery !== null;
  const errors = there?.completeness.findings.filter(({ severity }) => severity === "error").length ?? 0;
  const missing = isDelivery ? 0 : errors;
  const failing = there?.delivery?.verdict.failing.length ?? 0;
  const acceptance = (there?.criteria.length ?? 0) + (there?.checklist.length ?? head.checklist.length);
  const views: (View | false)[] = [
    { id: "overview", label: "Overview", icon: "overview", ...(missing > 0 ? { count: missing, alert: true } : {}) },
    count > 1 && { id: "changes", label: "Changes", icon: "changes" },
    head.documents.length > 0 && {
      id: "documents",
      label: "Documents",
      icon: "documents",
      count: head.documents.length,
    },
    {
      id: "files",
      label: "Files",
      icon: "files",
      count: head.fileCount === 0 ? undefined : head.fileCount.toLocaleString("en-US"),
    },
    ((there?.endpoints.length ?? 0) > 0 || head.baseUrls.length > 0) && {
      id: "apis",
      label: "Interfaces",
      icon: "apis",
      count: there?.endpoints.length,
    },
    (acceptance > 0 || head.testScripts.length > 0) && {
      id: "acceptance",
      label: "Acceptance",
      icon: "acceptance",
      count: failing > 0 ? failing : acceptance,
      alert: failing > 0,
    },
    (there?.timeline.length ?? 0) > 1 && { id: "timeline", label: "Timeline", icon: "timeline" },
    (head.credentials.length > 0 || head.hasVault) && {
      id: "access",
      label: "Access",
      icon: "access",
      count: head.credentials.length,
    },
    { id: "more", label: "Manifest", icon: "more" },
  ];
  return views.filter((view): view is View => view !== false);
}

render(<App />, document.getElementById("app")!);
