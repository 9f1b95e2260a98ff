import { expect, it } from "vitest";
import { isOurServer } from "../install.js";
import { type JsonWish, jsonEdit } from "./jsonc.js";

const server: JsonWish = {
  at: ["mcp", "nexus"],
  value: { command: ["sh"], environment: { NEXUS_HARNESS_ID: "x" } },
  ours: isOurServer,
};
const denied: JsonWish = { at: ["permission", "skill", "nx-init"], value: "deny" };
const approved: JsonWish = { at: ["on"], element: "nexus", ours: (one) => one === "nexus", shared: true };
const edit = jsonEdit({ path: "x" }, [server, denied, approved]);
const servers = jsonEdit({ path: "x" }, [server, approved]);
const opencode = (more: string) =>
  `{\n  // mine\n  "mcp": { "nexus": { "type":"local",\n    "command": ["n"] /* why */ } },\n  "on": ["a", "nexus"]${more}\n}\n`;

it("gives a person's own server of our name back as it was written, whatever else was changed", () => {
  const changed = servers.add(opencode("")).replace(/\n\}\n$/, ',\n  "theme": "dark"\n}\n');
  expect(changed).toContain("NEXUS_HARNESS_ID");
  // Once more, as after an upgrade.
  expect(servers.remove(servers.add(changed), opencode(""))).toBe(opencode(',\n  "theme": "dark"'));
});

it("does not take what a person wrote for its own", () => {
  for (const text of [opencode(""), '{"permission":{"skill":{"nx-init":"deny"}}}', '{"on":["nexus"]}'])
    expect(edit.holds(text)).toBe(false);
  expect(edit.holds(edit.add("{}"))).toBe(true);
});

it("leaves a server alone that a person put in the place of ours", () => {
  const theirs = '{ "mcp": { "nexus": { "command": ["mine"] } } }';
  expect(edit.remove(theirs, opencode(""))).toBe(theirs);
});

it("brings no comment back into a file whose host reads none", () => {
  const strict = jsonEdit({ path: "x", strict: { reader: "claude", convert: true, consent: "" } }, [server]);
  const back = strict.remove(strict.add(opencode("")), opencode(""));
  expect(JSON.parse(back!)).toMatchObject({ mcp: { nexus: { type: "local", command: ["n"] } } });
});

it("leaves a person's empty list as it is, whether it was ever in it or not", () => {
  const empty = '{ "on": [],  "theme": "dark" }';
  expect(servers.remove(empty, null)).toBe(empty);
  const back = servers.remove(servers.add(empty).replace('"dark"', '"light"'), empty);
  expect(JSON.parse(back!)).toEqual({ on: [], theme: "light" });
});

it("leaves what the host itself adds to a person's file, and takes it out of one we made", () => {
  const form: JsonWish = { at: ["$version"], value: 4, hosts: true };
  const settings = jsonEdit({ path: "x" }, [form, server]);
  expect(settings.remove(settings.add(null), null)).toBeNull();
  const back = settings.remove(settings.add('{ "theme": "dark", "$version": 4 }'), '{ "theme": "dark" }');
  expect(JSON.parse(back!)).toEqual({ theme: "dark", $version: 4 });
});

it.each(["", " \n"])("leaves a file without a word in it as it is: %j", (text) => {
  expect(jsonEdit({ path: "x" }, []).remove(text, text)).toBe(text);
  expect(edit.remove(text, null)).toBe(text);
});

it.each([101, 120, 20_000])("refuses what is nested %i levels deep", (levels) => {
  const lists = levels - 1;
  const text = `{"a":${"[".repeat(lists)}${"]".repeat(lists)}}`;
  const refusal = expect.objectContaining({
    code: "HOST_SETTINGS_INVALID",
    message: "x is nested too deeply to be changed; nothing was changed",
  });
  expect(() => edit.add(text)).toThrow(refusal);
  expect(() => edit.remove(text, null)).toThrow(refusal);
});

it("counts levels, not brackets in texts and comments", () => {
  const text = `{ // ${"[".repeat(200)}\n  "a": "${"{".repeat(200)}"\n}\n`;
  expect(edit.remove(edit.add(text), text)).toBe(text);
});

it("lays nothing out anew where lines are indented further than the layout goes", () => {
  const text = `{\n${" ".repeat(100)}"mcp": { "mine": {} }\n}\n`;
  expect(JSON.parse(edit.add(text))).toMatchObject({ mcp: { mine: {}, nexus: { command: ["sh"] } }, on: ["nexus"] });
  const deep = `{"a":${"[".repeat(99)}${"]".repeat(99)}}`;
  expect(JSON.parse(edit.remove(edit.add(deep), deep)!)).toEqual(JSON.parse(deep));
});

it("lays nothing out anew on a line that is very long, which would take minutes", () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, { a: [1, 2], b: "x".repeat(40) }]));
  for (const text of [JSON.stringify({ many }), `{\n  "many": ${JSON.stringify(many)}\n}\n`]) {
    const added = edit.add(text);
    expect(added.startsWith(text.replace(/\s*\}\s*$/, ""))).toBe(true);
    expect(JSON.parse(added)).toMatchObject({ mcp: { nexus: (server as { value: unknown }).value }, on: ["nexus"] });
    expect(JSON.parse(edit.remove(added, text)!)).toEqual({ many });
  }
});
