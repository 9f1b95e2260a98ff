// JUnit's XML, as many runners write it, read by hand: test cases with their names and how they ended.
import type { TestResult } from "../model.js";
import { ASSERTION, plainText, testId } from "./outcomes.js";

export interface XmlCase {
  readonly className: string;
  readonly name: string;
  readonly file: string | null;
  readonly status: "passed" | "failed" | "error" | "skipped";
  readonly message: string;
  readonly type: string;
}

/** No runner writes longer ones, and a message is only looked at where it begins. */
const TAG_LIMIT = 20_000;

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** What a test printed stands in the report as it was printed. */
const QUOTED = /<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)|<!--[\s\S]*?(?:-->|$)/g;

export function readXmlCases(report: string): XmlCase[] {
  const text = report.replace(QUOTED, (_, said = "") => said.replaceAll("<", "&lt;"));
  const cases: XmlCase[] = [];
  for (let at = text.indexOf("<testcase"); at >= 0; ) {
    const head = tagEnd(text, at);
    const closed = text[head - 2] === "/";
    const next = text.indexOf("<testcase", head);
    const body = closed ? "" : text.slice(head, next < 0 ? text.length : next);
    const close = body.indexOf("</testcase>");
    const attributes = readAttributes(text.slice(at, head));
    cases.push({ ...readBody(close < 0 ? body : body.slice(0, close)), ...identity(attributes) });
    at = next;
  }
  return cases;
}

function identity(attributes: ReadonlyMap<string, string>): Pick<XmlCase, "className" | "name" | "file"> {
  return {
    className: attributes.get("classname") ?? "",
    name: attributes.get("name") ?? "",
    file: attributes.get("file") ?? null,
  };
}

function readBody(body: string): Pick<XmlCase, "status" | "message" | "type"> {
  for (const [tag, status] of [
    ["failure", "failed"],
    ["error", "error"],
    ["skipped", "skipped"],
  ] as const) {
    const at = body.indexOf(`<${tag}`);
    if (at < 0 || /\w/.test(body[at + tag.length + 1] ?? "")) continue;
    const head = tagEnd(body, at);
    const attributes = readAttributes(body.slice(at, head));
    const inner = unescaped(body.slice(head, head + 2000));
    return { status, message: attributes.get("message") ?? inner, type: attributes.get("type") ?? "" };
  }
  return { status: "passed", message: "", type: "" };
}

/** Past the `>` that ends a tag; one inside an attribute does not. */
function tagEnd(text: string, from: number): number {
  let quote = "";
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]!;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === ">") return at + 1;
  }
  return text.length;
}

function readAttributes(tag: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const match of tag.slice(0, TAG_LIMIT).matchAll(/([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    found.set(match[1]!, unescaped(match[2] ?? match[3] ?? ""));
  }
  return found;
}

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(\w{1,6}));/g, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = Number.parseInt(hex ?? decimal, hex === undefined ? 10 : 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Failed by an assertion, by the kind of its error or the words of its message. */
export function isAssertionCase({ status, message, type }: XmlCase): boolean {
  return (
    status === "failed" &&
    (/Assertion|ComparisonFailure|MultipleFailures|^(?:REQUIRE|CHECK)(?:_[A-Z_]+)?$/.test(type) ||
      ASSERTION.test(plainText(message)))
  );
}

/** Any runner's file: by class and name. */
export function readJUnitFile(text: string): TestResult[] {
  return readXmlCases(text).map((each) => ({
    id: testId(each.className, [each.name]),
    status: each.status === "error" ? "failed" : each.status,
    ...(each.status === "failed" || each.status === "error"
      ? { assertion: isAssertionCase(each) || (each.status === "failed" && each.type === "") }
      : {}),
  }));
}
