import { expect, it } from "vitest";
import { tomlEdit } from "./toml.js";

const edit = tomlEdit("x", '[mcp_servers.nexus]\ncommand = "ours"', [["mcp_servers", "nexus"]]);
const LATER = "\n[later]\nx = 1 # y\n";

it.each([
  [
    "tables",
    "model = 'x'\n\n[mcp_servers.nexus] # mine\ncommand = 'n'\nargs = [\n  'a', # b\n]\n\n[mcp_servers.nexus.env]\nA = '1'\n\n# the other one\n[mcp_servers.other]\ncommand = 'o'\n",
  ],
  ["one line", "[mcp_servers]\nnexus = { command = 'n' } # mine\nother = { command = 'o' }\n"],
  ["dotted keys", "[mcp_servers]\nnexus.command = 'n'\nnexus.args = [\n  'a',\n]\n"],
  ["dotted from the top", 'mcp_servers.nexus.command = "n"\nmodel = "x"\n'],
  ["alone", '[mcp_servers."nexus"]\ncommand = "n"\n\n\n'],
  ["none", "model = 'x'\n\n\n"],
])("sets a person's own table aside and brings it back to the byte: %s", (_, text) => {
  const once = edit.add(text);
  expect(once).toContain('command = "ours"');
  expect(edit.add(once)).toBe(once);
  expect(edit.remove(once)).toBe(text);
  expect(edit.remove(edit.add(`${once}${LATER}`))).toBe(`${text}${LATER}`);
});

it("keeps what a table says that its lines do not tell", () => {
  const text = '[mcp_servers.nexus]\ncommand = """\n[mcp_servers.other]\n"""\n';
  const changed = `${edit.add(text)}${LATER}`;
  expect(edit.remove(changed, text)).toMatch(/later[\s\S]*\[mcp_servers\]\s+nexus = \{ command = /);
});

it("says what is in the way of an inline table", () => {
  expect(() => edit.add("mcp_servers = { nexus = { command = 'n' }, other = { command = 'o' } }\n")).toThrow(
    /takes no more tables/,
  );
  expect(() => edit.add("= broken")).toThrow(/is not TOML/);
});
