// Merges a gateway file's workspace into the stored one: absent items and fields stay, written ones win. Pure.
import { WriteRefused } from '../../storage/store/index.ts';
import type { ContentLog } from '../keys/index.ts';
import { written } from '../value-forms/index.ts';
import type {
  MemberKeys,
  PresetChanges,
  PresetDocument,
  WorkspaceChanges,
  WorkspaceDocument,
} from './workspace-document.ts';

const defaults: Omit<WorkspaceDocument, 'id'> = {
  credit_usd: '0',
  spend_limit_usd: null,
  models: 'all',
  data_policy: {},
  function_concurrency: 20,
  features: { byok: false, presets: false },
  presets: [],
};

/** Throws WriteRefused where the changes would take credit shards away. */
export function mergeWorkspace(former: WorkspaceDocument | undefined, changes: WorkspaceChanges): WorkspaceDocument {
  const base = former ?? { id: changes.id, ...defaults };
  const { data_policy, features, presets = [], member_keys, content_log, ...settings } = changes;
  return {
    ...base,
    ...written(settings),
    ...keptCredit(former, changes),
    data_policy: withoutNulls({ ...base.data_policy, ...written(data_policy ?? {}) }),
    features: { ...base.features, ...written(features ?? {}) },
    presets: mergePresets(base.presets, presets),
    ...(member_keys === undefined ? {} : { member_keys: mergeMemberKeys(base.member_keys, member_keys) }),
    ...(content_log === undefined ? {} : { content_log: mergeContentLog(base.content_log, content_log) }),
  };
}

/** Where a workspace begins to keep bodies. */
const contentLogDefaults: ContentLog = { keep: '30d', share: 1 };

const mergeContentLog = (
  stored: WorkspaceDocument['content_log'],
  changes: NonNullable<WorkspaceChanges['content_log']> | null,
): ContentLog | null => (changes === null ? null : { ...contentLogDefaults, ...stored, ...written(changes) });

/** Where a file lets members make keys without a maximum number. */
const memberKeysDefault = 5;

function mergeMemberKeys(
  stored: WorkspaceDocument['member_keys'],
  changes: NonNullable<WorkspaceChanges['member_keys']> | null,
): MemberKeys | null {
  if (changes === null) return null;
  return { max: memberKeysDefault, ...stored, ...written(changes) };
}

/** The credit is set when a workspace is created, and only then. In fewer shards, credit of the others would be lost. */
function keptCredit(former: WorkspaceDocument | undefined, { id, credit_shards }: WorkspaceChanges) {
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
