"use strict";
// Lies in dist/, and is how the parts of the programs reach each other: what a part imports is loaded when it is first used, so a
// command loads what it really runs.

const { readdirSync, readFileSync } = require("node:fs");
const { basename, dirname } = require("node:path");
const { compile } = require("./compiled.cjs");

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
    // What the library's faces share with us must be there once.
    if (name.includes("/") && !kept.has(`${name}.cjs`)) loaded.set(name, require(`./${name}.cjs`));
    else run(name, name.includes("/") ? name : `chunks/${name}`);
  }
  return loaded.get(name);
}
exports.part = part;

function run(name, file) {
  const path = `${__dirname}/${file}.cjs`;
  const source = String(kept.get(`${file}.cjs`) ?? readFileSync(path));
  const made = { exports: {} };
  loaded.set(name, made.exports);
  compile(basename(file), path, source)(made.exports, asked, made, path, dirname(path));
}

/** A part asks for Node's own modules and for this one, which may be on no disk any more. */
const asked = (name) => (name === "../later.cjs" ? exports : require(name));
