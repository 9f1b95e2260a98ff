// A statement as it is recorded: what it does, without the values in it.

const LONGEST = 300;
/** Longer ones are cut before they are looked at. */
const MOST_READ = 4_096;

/** Literals become `?`, comments go, white space is one space. What is not closed is a literal to the end. */
export function withoutLiterals(statement: string): string {
  const text = statement.slice(0, MOST_READ);
  const pieces =
    /(--[^\n]*)|(\/\*[\s\S]*?(?:\*\/|$))|([eEbBxXnN]?'(?:[^'\\]|''|\\[\s\S])*(?:'|$))|(\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\5\$|$))|("(?:[^"]|"")*(?:"|$))|(\b\d[\w.]*)|(\$\d+)/g;
  const bare = text.replace(pieces, (_all, line, block, quoted, dollar, _tag, name, number, parameter) => {
    if (line !== undefined || block !== undefined) return " ";
    if (quoted !== undefined || dollar !== undefined || number !== undefined) return "?";
    return (name ?? parameter) as string;
  });
  const one = bare.replace(/\s+/g, " ").trim();
  return one.length > LONGEST ? `${one.slice(0, LONGEST)}…` : one;
}
