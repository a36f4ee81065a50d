// Plans the changes of a workspace: its settings, its BYOK connections and its functions.

import { canonicalJson } from '../../foundation/ids/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { writeWorkspace } from '../administration/index.ts';
import { readConnection } from '../byok/index.ts';
import { contentLogFault } from '../keys/index.ts';
import {
  mergeWorkspace,
  type PresetDocument,
  presetFault,
  type WorkspaceChanges,
  type WorkspaceDocument,
} from '../workspaces/index.ts';
import { changedMembers } from './changed-members.ts';
import { connectionMembers, functionMembers } from './describe-changes.ts';
import { settingsOf, type WorkspaceInFile } from './gateway-file.ts';
import { type ApplyStep, attempt, changeOf, describe, type PlanningContext } from './planning.ts';
import { formatPath, type Issue, type Path, quote, suggest } from './problems.ts';

export async function planWorkspace(
  planning: PlanningContext,
  workspace: WorkspaceInFile,
  path: Path,
): Promise<ApplyStep[]> {
  return [
    await planSettings(planning, workspace, path),
    await planConnections(planning, workspace, path),
    ...(await planFunctions(planning, workspace, path)),
  ].flatMap((step) => step ?? []);
}

async function planSettings(
  { stores, modelIds, issues, notes, placeOf }: PlanningContext,
  workspace: WorkspaceInFile,
  path: Path,
) {
  const former = await stores.workspaceStore.read(workspace.id);
  const changes = withoutListOfExport(settingsOf(workspace), former, modelIds);
  const next = await attempt(issues, path, async () => mergeWorkspace(former, changes));
  if (next === undefined) return undefined;
  for (const [index, { slug }] of (changes.presets ?? []).entries()) {
    const merged = next.presets.find((preset) => preset.slug === slug);
    issues.push(...presetIssues(merged, [...path, 'presets', index]));
  }
  for (const [index, { content_log }] of workspace.keys.entries()) {
    const fault = contentLogFault(next.content_log, content_log);
    const place = [...path, 'keys', index, 'content_log', fault?.member ?? ''];
    if (fault !== undefined) issues.push({ path: place, message: fault.message });
  }
  const placeOfKey = (index: number) => formatPath(placeOf([...path, 'keys', index]).slice(path.length));
  notes.push(...unusablePresets(changes, [...path, 'presets']));
  notes.push(...withoutEffect(former, next, workspace, placeOfKey).map((line) => `${formatPath(path)}.${line}`));
  const members = changedMembers(former, next);
  const change = former === undefined ? 'created' : changeOf(members);
  return {
    planned: [describe(`workspace ${workspace.id}`, change, members)],
    write: async () => [await writeWorkspace(stores, former, changes)],
  };
}

/** Returns the lists unchanged if they differ only in models that no longer exist, which an export omits. */
function withoutListOfExport(
  changes: WorkspaceChanges,
  former: WorkspaceDocument | undefined,
  known: ReadonlySet<string>,
): WorkspaceChanges {
  if (former === undefined || former.models === 'all') return changes;
  const knownModels = former.models.filter((id) => known.has(id));
  return canonicalJson(knownModels) === canonicalJson(changes.models ?? null)
    ? { ...changes, models: undefined }
    : changes;
}

/** Returns the parts of this workspace that have no effect, with advice. */
function withoutEffect(
  former: WorkspaceDocument | undefined,
  next: WorkspaceDocument,
  { id, credit_usd, presets = [], byok, keys }: WorkspaceInFile,
  placeOfKey: (index: number) => string,
): string[] {
  const isWritten = ({ state }: { readonly state?: 'absent' | undefined }) => state !== 'absent';
  const isOtherCredit =
    former !== undefined && credit_usd !== undefined && parseUsd(credit_usd) !== parseUsd(former.credit_usd);
  const isUsable = (model: string) => next.models === 'all' || next.models.includes(model);
  const excluded = keys.flatMap(({ models }, index) =>
    Array.isArray(models) && models.some((model) => !isUsable(model))
      ? [`${placeOfKey(index)}.models names models that the workspace itself may not use: add them to its own models`]
      : [],
  );
  return [
    ...(isOtherCredit ? [`credit_usd has no effect, the workspace exists: use gw credits add ${id} AMOUNT`] : []),
    ...(presets.some(isWritten) && !next.features.presets
      ? ['presets have no effect while the workspace has not features: { presets: true }']
      : []),
    ...(byok.connections.some(isWritten) && !next.features.byok
      ? ['byok.connections have no effect while the workspace has not features: { byok: true }']
      : []),
    ...(keys.some(({ content_log }) => content_log != null) && next.content_log == null
      ? ['keys[].content_log has no effect while the workspace has no content_log']
      : []),
    ...excluded,
  ];
}

/** Returns faults that only the merged preset shows, because its versions may be in the file or stored. */
function presetIssues(preset: PresetDocument | undefined, path: Path): Issue[] {
  const versions = preset?.versions.map(({ version }) => version) ?? [];
  if (preset === undefined || versions.includes(preset.designated)) return [];
  if (versions.length === 0) return [{ path: [...path, 'versions'], message: 'is required for a new preset' }];
  const missing = `there is no version ${quote(preset.designated)} in the file or stored`;
  return [{ path: [...path, 'designated'], message: `${missing}; ${suggest(preset.designated, versions)}` }];
}

/**
 * Returns notes, not faults, since a call may name another version, and a preset that was stored before must not
 * prevent a file from being applied.
 */
const unusablePresets = ({ presets = [] }: WorkspaceChanges, path: Path): string[] =>
  presets.flatMap(({ versions = [] }, index) =>
    versions.flatMap(({ config }, at) => {
      const fault = presetFault(config);
      if (fault === undefined) return [];
      const place = formatPath([...path, index, 'versions', at, 'config', ...fault.path]);
      return [`${place}: ${fault.message}; calls with this preset are refused`];
    }),
  );

async function planConnections(planning: PlanningContext, { id, byok: { connections } }: WorkspaceInFile, path: Path) {
  const { stores, readVariable, issues, notes } = planning;
  if (connections.length === 0) return undefined;
  const nameOf = (provider: string) => `byok connection to ${provider} of ${id}`;
  const wantedConnections = connections.map((written) => {
    const read = readConnection(written, readVariable);
    if (read.skippedKey !== undefined) {
      notes.push(`the key of the ${nameOf(written.provider)} is skipped: ${read.skippedKey}`);
    }
    return read.wanted;
  });
  const place = [...path, 'byok', 'connections'];
  const planned = await attempt(issues, place, () => stores.connectionStore.plan(id, wantedConnections));
  for (const [index, { change }] of (planned ?? []).entries()) {
    if (change !== 'created' || connections[index]?.key !== undefined) continue;
    issues.push({ path: [...place, index, 'key'], message: 'is required for a new connection' });
  }
  return {
    planned: (planned ?? []).map((one) => describe(nameOf(one.provider), one.change, connectionMembers(one))),
    write: async () => (await stores.connectionStore.write(id, wantedConnections)).map(({ change }) => change),
  };
}

async function planFunctions(
  { stores, issues, notes, nowMs }: PlanningContext,
  { id, functions }: WorkspaceInFile,
  path: Path,
) {
  const { functionStore } = stores;
  const steps: ApplyStep[] = [];
  for (const [index, declared] of functions.entries()) {
    const place = [...path, 'functions', index];
    const planned = await attempt(issues, place, () => functionStore.plan(id, declared, nowMs));
    if (planned === undefined) continue;
    const members = await functionMembers(functionStore, declared, planned);
    for (const { id: revision, state } of declared.revisions) {
      if (state !== 'draft' || planned.next.revisions.get(revision)?.state !== 'activated') continue;
      notes.push(
        `revision ${revision} of function ${declared.id} of ${id} is activated and stays so: state: draft has no effect`,
      );
    }
    steps.push({
      planned: [describe(`function ${declared.id} of ${id}`, planned.change, members)],
      write: async () => [await functionStore.apply(id, declared, nowMs)],
    });
  }
  return steps;
}
