/** One object per row, keyed by the names in the first line. */
export function parseCsv(text) {
  const [names, ...rows] = records(text);
  return rows.map(({ line, fields }) => {
    if (fields.length !== names.fields.length) {
      throw new Error(`line ${line} has ${fields.length} fields, expected ${names.fields.length}`);
    }
    return Object.fromEntries(names.fields.map((name, index) => [name, fields[index]]));
  });
}

function records(text) {
  const found = [];
  const field = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/y;
  let line = 1;
  let fields = [];
  let start = 1;
  while (field.lastIndex < text.length) {
    const [whole, quoted, plain, end] = field.exec(text);
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += whole.split("\n").length - 1;
    if (end === "," && field.lastIndex < text.length) continue;
    if (end === ",") fields.push("");
    if (fields.length > 1 || fields[0] !== "") found.push({ line: start, fields });
    fields = [];
    start = line;
  }
  return found;
}
