// What no section can know alone: names that are taken twice, and names of nothing.
import { autoModelId } from '../../foundation/constants/index.ts';
import { checkFunction } from './check-functions.ts';
import { checkKnown, checkUnique, entries, member, type Node, namesIn, type Report } from './node.ts';
import type { Issue } from './problems.ts';

interface Known {
  readonly providers: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
}

export function referenceIssues(value: unknown): Issue[] {
  const issues: Issue[] = [];
  const report: Report = ({ path }, message) => void issues.push({ path, message });
  const file: Node = { value, path: [] };
  const [providers, models, workspaces] = [
    member(file, 'providers'),
    member(file, 'models'),
    member(file, 'workspaces'),
  ];
  for (const list of [providers, models, workspaces]) checkUnique([list], 'id', report);
  // A key is found by its own id alone, so one key cannot belong to two workspaces.
  checkUnique(
    entries(workspaces).map((workspace) => member(workspace, 'keys')),
    'key',
    report,
  );

  const known = { providers: namesIn(providers, 'id'), models: namesIn(models, 'id') };
  for (const model of entries(models)) checkModel(model, known, report);
  for (const workspace of entries(workspaces)) checkWorkspace(workspace, known, report);
  return issues;
}

function checkModel(model: Node, known: Known, report: Report): void {
  const providers = member(model, 'providers');
  checkUnique([providers], 'provider', report);
  for (const entry of entries(providers)) {
    checkKnown(member(entry, 'provider'), known.providers, 'provider', 'providers', report);
    checkPrices(entry, report);
  }
}

function checkPrices(entry: Node, report: Report): void {
  const [input, output] = [member(entry, 'input_price_per_million'), member(entry, 'output_price_per_million')];
  if (input.value === undefined || output.value === undefined) return;
  if ((input.value === null) === (output.value === null)) return;
  const unset = input.value === null ? input : output;
  report(unset, 'must be set, or the other price must be null as well: half a price cannot be billed');
}

function checkWorkspace(workspace: Node, known: Known, report: Report): void {
  checkModelChoice(workspace, known, report);
  const keys = member(workspace, 'keys');
  checkUnique([keys], 'name', report);
  for (const key of entries(keys)) checkModelChoice(key, known, report);
  const presets = member(workspace, 'presets');
  checkUnique([presets], 'slug', report);
  for (const preset of entries(presets)) checkUnique([member(preset, 'versions')], 'version', report);
  const connections = member(member(workspace, 'byok'), 'connections');
  // A workspace has one stored credential for a provider: of two, nothing says which a call should use.
  checkUnique([connections], 'provider', report);
  for (const connection of entries(connections)) {
    // A connection to a provider that has left the file can still be removed.
    if (member(connection, 'state').value === 'absent') continue;
    checkKnown(member(connection, 'provider'), known.providers, 'provider', 'providers', report);
  }
  const callable = new Set([...known.models, autoModelId]);
  checkUnique([member(workspace, 'functions')], 'id', report);
  for (const declared of entries(member(workspace, 'functions'))) checkFunction(declared, callable, report);
}

function checkModelChoice(owner: Node, known: Known, report: Report): void {
  for (const at of entries(member(owner, 'models'))) {
    if (at.value === autoModelId) {
      report(at, `is always available; list the models that ${autoModelId} may choose from`);
    } else checkKnown(at, known.models, 'model', 'models', report);
  }
}
