// `keys create`: makes a key and prints it, the only time it is ever seen.
import { createApiKey, type KeyRecord, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { Command, Outcome, Session } from '../command.ts';
import type { OpenTarget } from '../open-target.ts';
import { storesOn } from '../stores.ts';
import { readId, readKeyName, readOptional, readPositiveInteger, readUsd } from '../values.ts';
import { readWorkspace } from '../workspaces.ts';

type Settings = Pick<KeyRecord, 'workspace' | 'name' | 'rpm' | 'spendLimitUsd'>;

export const keysCreateCommand: Command<OpenTarget> = {
  name: 'keys create',
  summary: 'make an API key for a workspace and print it once',
  options: {
    workspace: { value: 'W', summary: 'the workspace that the key belongs to', isRequired: true },
    name: { value: 'N', summary: 'what people call it; several keys may share a name', isRequired: true },
    rpm: { value: 'N', summary: 'requests per minute; left out: no limit' },
    'spend-limit': { value: 'USD', summary: 'all that the key may ever spend; left out: no limit' },
  },
  notes: ['The key is stored as a hash only: what is not kept now cannot be shown again.'],
  prepare: (input) => {
    const limit = readOptional(readUsd, '--spend-limit', input.text('spend-limit'));
    const settings: Settings = {
      workspace: readId('--workspace', input.required('workspace')),
      name: readKeyName('--name', input.required('name')),
      rpm: readOptional(readPositiveInteger, '--rpm', input.text('rpm')) ?? null,
      spendLimitUsd: limit === undefined ? null : formatUsd(limit),
    };
    return (session) => createKey(session, settings);
  },
};

async function createKey(session: Session<OpenTarget>, settings: Settings): Promise<Outcome> {
  const { keys, workspaceStore } = storesOn((await session.open()).store);
  await readWorkspace(workspaceStore, settings.workspace);
  const text = createApiKey(session.randomness);
  const parsed = parseApiKey(text);
  if (parsed === undefined) throw new Error('a key that was just made must be readable');
  try {
    await keys.write({ ...parsed, ...settings, status: 'active' });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new Error(
      `the store gave no answer; should keys list show ${parsed.publicId}, revoke it: nobody has its text`,
    );
  }
  const { workspace, name, rpm, spendLimitUsd } = settings;
  return {
    json: { workspace, name, public_id: parsed.publicId, key: text, rpm, spend_limit_usd: spendLimitUsd },
    lines: () => [`key ${name} of ${workspace} (shown once):`, text],
  };
}
