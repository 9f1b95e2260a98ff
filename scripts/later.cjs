"use strict";
// Lies in dist/, and is how the parts of the programs reach each other: what a part imports is loaded when it is first used, so a
// command loads what it really runs.

/** `$` is what `load` gives, from its first use on. A class, because thousands are made at a start. */
class Later {
  constructor(load) {
    this.load = load;
  }

  get $() {
    return found(this, this.load());
  }
}

class LatePart {
  constructor(name) {
    this.name = name;
  }

  get $() {
    return found(this, part(this.name));
  }
}

function found(late, value) {
  Object.defineProperty(late, "$", { value });
  return value;
}

exports.later = (load) => new Later(load);
exports.latePart = (name) => new LatePart(name);

exports.exporting = (module, names) => {
  for (const name in names) Object.defineProperty(module.exports, name, { get: names[name], enumerable: true });
};

/** Name under dist/ → content. */
const kept = new Map();

/** A command may need a part hours after its start, when an upgrade has taken the files away or put others in their place. */
exports.keepParts = () => {
  const { readdirSync, readFileSync } = require("node:fs");
  try {
    for (const folder of ["chunks", "lib"]) {
      for (const file of readdirSync(`${__dirname}/${folder}`)) {
        if (file.endsWith(".cjs")) kept.set(`${folder}/${file}`, readFileSync(`${__dirname}/${folder}/${file}`));
      }
    }
  } catch {
    // Whoever needs a part that could not be read meets what is wrong with it.
  }
};

/** Name → what it exports. */
const loaded = new Map();

/** By its file's name without the ending, with its folder when that is not chunks/. */
function part(name) {
  if (!loaded.has(name)) {
    const file = name.includes("/") ? `${name}.cjs` : `chunks/${name}.cjs`;
    if (kept.has(file)) runKept(name, file);
    else loaded.set(name, require(`./${file}`));
  }
  return loaded.get(name);
}
exports.part = part;

function runKept(name, file) {
  const path = `${__dirname}/${file}`;
  const { Module } = require("node:module");
  const made = new Module(path);
  // A part asks for Node's own modules and for this one, which may be on no disk any more.
  made.require = (asked) => (asked === "../later.cjs" ? exports : require(asked));
  loaded.set(name, made.exports);
  made._compile(String(kept.get(file)), path);
}
