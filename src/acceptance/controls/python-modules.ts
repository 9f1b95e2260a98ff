// Files behind the name of a Python module, from the folder it is looked for in.

/** `shop.selftest` is shop/selftest.py, or the package's own __main__.py; none for one of Python's own. */
export function moduleFiles(module: string): string[] {
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(module)) return [];
  const path = module.replaceAll(".", "/");
  return [`${path}.py`, `${path}/__main__.py`];
}

/** Names of the modules that a text starts by `python3 -m`. */
export const startedModules = (text: string): string[] =>
  [...text.matchAll(/\bpython[0-9.]*\s+(?:-[A-Za-z]+\s+)*-m\s+([\w.]+)/g)].map(([, module]) => module!);
