// The editor's side: a tree of the bundles in the workspace, and nutshell's verbs as tasks. Everything is done by nutshell
// itself; nothing here decides about a bundle.

const vscode = require("vscode");
const { argumentsOf, kindOf, VERBS } = require("./commands.js");

const MOST = 500;
const SKIPPED = "**/{node_modules,.git,.nexus}/**";

function activate(context) {
  const tree = new Bundles();
  const on = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  context.subscriptions.push(
    vscode.window.registerTreeDataProvider("nutcracker.bundles", tree),
    vscode.tasks.registerTaskProvider("nutshell", {
      provideTasks: async () => {
        const found = await tree.getChildren();
        return found.flatMap((item) => verbsFor(item.contextValue).map((verb) => taskOf({ verb, path: item.label })));
      },
      resolveTask: (task) => taskOf(task.definition, task.scope),
    }),
  );
  on("nutcracker.refresh", () => tree.refresh());
  for (const verb of VERBS) {
    on(`nutcracker.${verb}`, async (item) => {
      if (item === undefined) return;
      const request = verb === "verify" ? await requestFor() : undefined;
      if (verb === "verify" && request === undefined) return;
      await vscode.tasks.executeTask(taskOf({ verb, path: item.label, ...(request === undefined ? {} : { request }) }));
    });
  }
}

const verbsFor = (kind) => (kind === "request" ? ["check", "inspect"] : ["inspect"]);

async function requestFor() {
  const picked = await vscode.window.showOpenDialog({
    title: "The request this delivery answers",
    canSelectFolders: true,
    filters: { Bundles: ["nut"] },
  });
  return picked?.[0]?.fsPath;
}

function taskOf(definition, scope = vscode.TaskScope.Workspace) {
  const program = vscode.workspace.getConfiguration("nutcracker").get("program", "nutshell");
  const run = new vscode.ProcessExecution(program, argumentsOf(definition));
  const name = `${definition.verb} ${definition.path}`;
  return new vscode.Task({ type: "nutshell", ...definition }, scope, name, "nutshell", run);
}

class Bundles {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  refresh() {
    this.changed.fire();
  }

  getTreeItem(item) {
    return item;
  }

  async getChildren(item) {
    if (item !== undefined) return [];
    const files = await vscode.workspace.findFiles("**/{nutshell.json,*.nut}", SKIPPED, MOST);
    const items = await Promise.all(files.map((uri) => this.itemOf(uri)));
    return items.filter((each) => each !== null).sort((a, b) => a.label.localeCompare(b.label));
  }

  async itemOf(uri) {
    const isFolder = uri.path.endsWith("/nutshell.json");
    const kind = isFolder ? kindOf(Buffer.from(await vscode.workspace.fs.readFile(uri)).toString("utf8")) : "bundle";
    if (kind === null) return null;
    const place = isFolder ? vscode.Uri.joinPath(uri, "..") : uri;
    const item = new vscode.TreeItem(vscode.workspace.asRelativePath(place, false));
    item.resourceUri = place;
    // Which of the two a packed bundle is, nutshell says; either may be verified or inspected.
    item.contextValue = kind === "bundle" ? "delivery" : kind;
    item.iconPath = new vscode.ThemeIcon(isFolder ? "folder" : "package");
    return item;
  }
}

module.exports = { activate, deactivate() {} };
