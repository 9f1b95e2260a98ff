"use strict";
// Lies in dist/. What the engine made of our parts is kept beside them from one command to the next: compiling them is a good part of
// a start. The engine believes what it is given, so each carries the sums of itself and of its source; who may write here may as
// well write the parts. Only the account that owns the package keeps anything. NODE_DISABLE_COMPILE_CACHE=1 says no, as it does to Node.
const fs = require("node:fs");
const { basename, dirname } = require("node:path");
const vm = require("node:vm");
const { crc32 } = require("node:zlib");

/** More than the parts of several versions: then all are made anew. */
const MOST_PARTS = 1_500;
/** Engines, and options they were started with, of which something is kept. */
const MOST_ENGINES = 6;
/** What a folder of ours is called: nothing else is ever removed. */
const ENGINE = /^v\d+\.\d+\.\d+\S*-\w+-[0-9a-f]+$/;
const SUMS_BYTES = 8;

const { NODE_DISABLE_COMPILE_CACHE, NODE_OPTIONS = "" } = process.env;
const isOff = Boolean(NODE_DISABLE_COMPILE_CACHE);
/** An engine with other options rejects what was kept. */
const options = crc32([...process.execArgv, NODE_OPTIONS].join("\n")).toString(16);
const folder = `${__dirname}/../.cache/compiled/${process.version}-${process.arch}-${options}`;

/** Compiled by this process: name → the script, and the sum of its source. */
const made = new Map();
let accepted = 0;

/** The part's body, as a function. */
exports.compile = (name, path, source) => {
  const sum = isOff ? 0 : crc32(source);
  const cachedData = isOff ? undefined : kept(name, sum);
  const script = new vm.Script(`(function (exports, require, module, __filename, __dirname) { ${source}\n})`, {
    filename: path,
    cachedData,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cachedData !== undefined && !script.cachedDataRejected) accepted += 1;
  // Rejected after others were accepted: the engine's options were changed since the start, and what it makes is for nobody else.
  else if (!isOff && (cachedData === undefined || accepted === 0)) {
    if (made.size === 0) process.once("exit", keep);
    made.set(name, { script, sum });
  }
  return script.runInThisContext();
};

function kept(name, sum) {
  try {
    const bytes = fs.readFileSync(`${folder}/${name}`);
    const data = bytes.subarray(SUMS_BYTES);
    if (bytes.readUInt32LE(0) === sum && bytes.readUInt32LE(4) === crc32(data)) return data;
  } catch {
    // It is not there, or not to be had.
  }
  return undefined;
}

/** At the end: what ran is compiled by now, function by function. Whatever keeps it from being kept, the command is done. */
function keep() {
  try {
    if (!isOwner() || !isPlain(dirname(dirname(folder))) || !isPlain(dirname(folder)) || !isPlain(folder)) return;
    makeRoom();
    fs.mkdirSync(folder, { recursive: true, mode: 0o755 });
    for (const [name, { script, sum }] of made) keepOne(name, script.createCachedData(), sum);
  } catch {
    // The disk is full or may not be written.
  }
}

const isOwner = () => process.geteuid === undefined || process.geteuid() === fs.statSync(__dirname).uid;

/** A link could lead to where something else is kept, or removed. */
const isPlain = (path) => fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== false;

function keepOne(name, data, sum) {
  const sums = Buffer.alloc(SUMS_BYTES);
  sums.writeUInt32LE(sum, 0);
  sums.writeUInt32LE(crc32(data), 4);
  const draft = `${folder}/.${name}.${process.pid}`;
  try {
    fs.writeFileSync(draft, Buffer.concat([sums, data]), { mode: 0o644, flag: "wx" });
    fs.renameSync(draft, `${folder}/${name}`);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
}

function makeRoom() {
  const all = dirname(folder);
  if (!fs.existsSync(all)) return;
  const others = fs.readdirSync(all).filter((name) => ENGINE.test(name) && name !== basename(folder));
  const oldest = others
    .map((name) => ({ name, time: fs.lstatSync(`${all}/${name}`).mtimeMs }))
    .sort((a, b) => a.time - b.time)
    .slice(0, Math.max(0, others.length + 1 - MOST_ENGINES));
  for (const { name } of oldest) fs.rmSync(`${all}/${name}`, { recursive: true, force: true });
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > MOST_PARTS) fs.rmSync(folder, { recursive: true });
}
