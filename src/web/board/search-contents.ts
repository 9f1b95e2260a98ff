// Searching contents for the board: artifacts, and what the sessions of the latest runs were told and reported.
import { NutError } from "../../errors.js";
import { linesWith } from "../view/lines-with.js";
import type { ContentFound } from "./model.js";
import type { ProjectReader } from "./project-reader.js";
import { readArtifact } from "./read-artifact.js";
import { readSession } from "./read-session.js";

const MOST_FOUND = 60;
const MOST_READ = 400;

export function searchContents(reader: ProjectReader, words: string): ContentFound[] {
  const found: ContentFound[] = [];
  if (words.length < 2 || words.length > 200) return found;
  let reads = 0;
  const look = (place: Pick<ContentFound, "name" | "run" | "agent" | "part">, read: () => string) => {
    reads += 1;
    if (reads > MOST_READ || found.length >= MOST_FOUND) return;
    try {
      for (const { line, text } of linesWith(read(), words, 0, "")) found.push({ ...place, line, text });
    } catch (error) {
      // Pruned since, or no text.
      if (!(error instanceof NutError)) throw error;
    }
  };
  const { artifacts, runs } = reader.whole();
  for (const { name } of artifacts)
    look({ name, run: "", agent: "", part: "" }, () => readArtifact(reader.root, name).text);
  for (const { id, sessions } of runs) {
    for (const { agent } of sessions) {
      for (const part of ["report", "prompt"])
        look({ name: "", run: id, agent, part }, () => readSession(reader.root, id, agent, part, 0).text);
    }
  }
  return found;
}
