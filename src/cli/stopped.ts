/** A person ended the command at a question, by Ctrl-C or Ctrl-D. */
export class Stopped extends Error {}
