// Merges a gateway file's workspace into the stored workspace. Absent items and fields stay, written items and fields
// take precedence. Pure.
import { functionCallsDefault } from '../../foundation/constants/index.ts';
import { WriteRefused } from '../../storage/store/index.ts';
import { withoutUndefined } from '../value-forms/index.ts';
import type { PresetChanges, PresetDocument, WorkspaceChanges, WorkspaceDocument } from './workspace-document.ts';

const defaults: Omit<WorkspaceDocument, 'id'> = {
  credit_usd: '0',
  spend_limit_usd: null,
  models: 'all',
  data_policy: {},
  function_concurrency: functionCallsDefault,
  features: { byok: false, presets: false },
  presets: [],
};

/** Merges the changes. Throws WriteRefused if they would remove credit shards. */
export function mergeWorkspace(former: WorkspaceDocument | undefined, changes: WorkspaceChanges): WorkspaceDocument {
  const base = former ?? { id: changes.id, ...defaults };
  const {
    data_policy,
    idempotency,
    features,
    presets = [],
    member_keys: _keys,
    content_log: _log,
    ...settings
  } = changes;
  return {
    ...base,
    ...withoutUndefined(settings),
    ...creditOf(former, changes),
    data_policy: withoutNulls({ ...base.data_policy, ...withoutUndefined(data_policy ?? {}) }),
    ...mergeIdempotency(idempotency),
    features: { ...base.features, ...withoutUndefined(features ?? {}) },
    presets: mergePresets(base.presets, presets),
    ...mergeFields(base, changes),
  };
}

/** Merges the setting, which has one field. */
const mergeIdempotency = (change: WorkspaceChanges['idempotency']) =>
  change === null || change?.zdr !== undefined ? { idempotency: change?.zdr ? { zdr: change.zdr } : null } : {};

/** Initial fields of a setting, if a workspace had none before. */
const firstValues = { member_keys: { max: 5 }, content_log: { keep: '30d', share: 1 } } as const;

/** Merges the fields of a setting. Null removes the setting; absent fields of it keep their values. */
const mergeFields = (base: Pick<WorkspaceDocument, keyof typeof firstValues>, changes: WorkspaceChanges) =>
  Object.fromEntries(
    (Object.keys(firstValues) as (keyof typeof firstValues)[]).flatMap((name) => {
      const change = changes[name];
      return change === undefined
        ? []
        : [[name, change && { ...firstValues[name], ...base[name], ...withoutUndefined(change) }]];
    }),
  );

/**
 * Returns the credit, which is set only when a workspace is created. With fewer shards, the credit in the other shards
 * would be lost.
 */
function creditOf(former: WorkspaceDocument | undefined, { id, credit_shards }: WorkspaceChanges) {
  if (former === undefined) return {};
  const [stored, wanted] = [former.credit_shards ?? 1, credit_shards ?? former.credit_shards ?? 1];
  if (wanted < stored) {
    throw new WriteRefused(
      `workspace ${id} has its credit in ${stored} shards, and the file says credit_shards: ${wanted}: ` +
        `the credit in the others would not be found. Leave it out, or write ${stored} or more`,
    );
  }
  return { credit_usd: former.credit_usd };
}

function mergePresets(stored: readonly PresetDocument[], changes: readonly PresetChanges[]): PresetDocument[] {
  const bySlug = new Map(stored.map((preset) => [preset.slug, preset]));
  for (const { slug, state, versions = [], designated } of changes) {
    const former = bySlug.get(slug);
    if (state === 'absent') bySlug.delete(slug);
    else {
      const merged = new Map([...(former?.versions ?? []), ...versions].map((one) => [one.version, one]));
      const latest = versions.at(-1)?.version ?? '';
      bySlug.set(slug, {
        slug,
        versions: [...merged.values()],
        designated: designated ?? former?.designated ?? latest,
      });
    }
  }
  return [...bySlug.values()];
}

const withoutNulls = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as {
    [Name in keyof Members]?: Exclude<Members[Name], null>;
  };
