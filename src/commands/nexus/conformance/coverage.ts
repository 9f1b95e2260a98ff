import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { green, red } from "../../../cli/text.js";
import type { Assertions, Fixture } from "../../../schema/fixture.js";
import { broken, type LoadedFixture, loadFixtures, ownFixtures } from "./fixtures.js";
import { parsePath } from "./json-path.js";

export default command({
  name: "conformance coverage",
  summary: "check that fixtures cover every field and parameter",
  input: z.object({
    fixtures: flag(z.string().optional(), { value: "<dir>", about: "a folder with fixtures and state-schemas in it" }),
  }),
  output: z.object({
    schemas: z.array(z.object({ schema: z.string(), fields: z.int(), uncovered: z.array(z.string()) })),
    params: z.array(z.object({ test_id: z.string(), file: z.string(), param: z.string() })),
    complete: z.boolean(),
  }),
  about: [
    "Every field of a state schema must be in some fixture's covers.state_schemas; every parameter of a call must be asserted or listed in uncovered_params.",
  ],
  examples: [["nexus conformance coverage", "the suite that came with nexus"]],
  async run({ fixtures }, { cwd }) {
    const folder = fixtures === undefined ? ownFixtures() : resolve(cwd, fixtures);
    const loaded = loadFixtures(folder);
    const schemas = readSchemas(folder).map(({ name, schema }) => {
      const covered = loaded.flatMap(({ fixture }) => fixture.covers.state_schemas?.[name] ?? []);
      const fields = fieldsOf(schema);
      return { schema: name, fields: fields.length, uncovered: fields.filter((field) => !covers(covered, field)) };
    });
    const params = loaded.flatMap(unassertedParams);
    const complete = params.length === 0 && schemas.every(({ uncovered }) => uncovered.length === 0);
    return { schemas, params, complete };
  },
  text: ({ schemas, params, complete }) => [
    ...schemas.map(({ schema, fields, uncovered }) =>
      uncovered.length === 0
        ? `${green("✓")} ${schema}: ${fields} of ${fields} fields`
        : `${red("✗")} ${schema}: ${fields - uncovered.length} of ${fields} fields, not ${uncovered.join(", ")}`,
    ),
    ...params.map(({ test_id, file, param }) => `${red("✗")} ${test_id} (${file}): nothing looks at "${param}"`),
    complete ? "everything is covered" : "not everything is covered",
  ],
  exit: ({ complete }) => (complete ? 0 : 1),
});

/** Whoever looks into a list (`deps[]`) has looked at the list (`deps`). */
function covers(covered: readonly string[], field: string): boolean {
  return covered.some((path) => path === field || path.startsWith(`${field}[`));
}

type Schema = Readonly<Record<string, unknown>>;

function readSchemas(folder: string): { name: string; schema: Schema }[] {
  const schemas = join(folder, "state-schemas");
  if (!existsSync(schemas)) throw broken(folder, "has no state-schemas folder");
  const names = readdirSync(schemas).filter((name) => name.endsWith(".schema.json"));
  return names.sort().map((name) => {
    try {
      return { name, schema: JSON.parse(readFileSync(join(schemas, name), "utf8")) as Schema };
    } catch (cause) {
      throw broken(join(schemas, name), "is not JSON", cause);
    }
  });
}

/**
 * The fields a fixture can claim: `issues[].status`. A list of plain values is two fields, itself and its items (`deps`,
 * `deps[]`). A choice between shapes is one field: which shape it took is for the assertion to say.
 */
function fieldsOf(schema: Schema, root: Schema = schema): string[] {
  const node = resolveRef(schema, root);
  if (node.type === "array") return fieldsOf(node.items as Schema, root);
  return Object.entries((node.properties ?? {}) as Record<string, Schema>).flatMap(([name, value]) => {
    const field = resolveRef(value, root);
    if (field.type === "array") {
      const items = resolveRef((field.items ?? {}) as Schema, root);
      if (items.properties === undefined) return [name, `${name}[]`];
      return fieldsOf(items, root).map((inner) => `${name}[].${inner}`);
    }
    if (field.properties !== undefined) return fieldsOf(field, root).map((inner) => `${name}.${inner}`);
    return [name];
  });
}

function resolveRef(schema: Schema, root: Schema): Schema {
  if (typeof schema.$ref !== "string") return schema;
  const path = schema.$ref.replace(/^#\/?/, "").split("/");
  const target = path.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], root);
  return resolveRef((target ?? {}) as Schema, root);
}

/** A parameter is asserted when some assertion's path names it. */
function unassertedParams({ file, fixture }: LoadedFixture) {
  const named = new Set(assertionPaths(fixture).flatMap((path) => (parsePath(path) ?? []).map(String)));
  const known = new Set([...named, ...(fixture.uncovered_params ?? [])]);
  // `issues` is seen through `issueCount`, the one result the contract names otherwise.
  if (named.has("issueCount")) known.add("issues");
  const actions = [fixture.action, ...(fixture.steps ?? []).map(({ action }) => action)];
  const params = new Set(actions.flatMap((action) => Object.keys(action?.params ?? {})));
  return [...params].filter((param) => !known.has(param)).map((param) => ({ test_id: fixture.test_id, file, param }));
}

function assertionPaths({ postcondition, steps = [] }: Fixture): string[] {
  const files = [postcondition?.state_files, ...steps.map(({ assert_state }) => assert_state)];
  const assertions: (Assertions | null | undefined)[] = [
    postcondition?.return_value,
    ...steps.map(({ assert_return }) => assert_return),
    ...files.flatMap((file) => Object.values(file ?? {})),
  ];
  return assertions.flatMap((one) => Object.keys(one ?? {}));
}
