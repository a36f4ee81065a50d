// `keys rotate`: a second key beside the first, which ends when every client had the time to take the new one.
import { carriedSpending } from '../../../shared/accounting/holds/index.ts';
import { createApiKey, holdersOf, type KeyRecord, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { collect } from '../../../shared/foundation/parallel/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readDuration, readId, readKeyName, UsageError } from '../args/option-values.ts';
import type { Outcome, Session } from '../args/session.ts';
import { isoTime } from '../output/format.ts';
import { storesOn } from '../target/stores.ts';
import { expiresForm, type KeyRuleOptions, readExpires, toKeyRules } from './key-rules.ts';

const graceDefaultMs = 24 * 3_600_000;
/** A key that should live on longer needs no successor yet. */
const graceMaxMs = 366 * 24 * 3_600_000;

export function addRotate(keys: CommandLine): void {
  keys
    .command('rotate')
    .description('make a second key beside an active one, which ends after a while')
    .takesArgument('NAME', readKeyName)
    .requiresOption('--workspace <W>', 'the workspace that the key belongs to', readId)
    .takesOption('--grace <TIME>', 'how long the former key goes on: 90s, 15m, 24h, 7d; left out: 24h', readGrace)
    .takesOption('--expires <WHEN>', `of the new key: ${expiresForm}, or none; left out: as the former`, readExpires)
    .notes(
      'The new key has the name, the limits and the rules of the former, and what that one has spent counts on it too.',
      'From then on a gateway file, keys rotate and export mean the new key by the name.',
    )
    .does(rotateKey);
}

function readGrace(name: string, text: string): number {
  const graceMs = readDuration(text);
  if (graceMs !== undefined && graceMs <= graceMaxMs) return graceMs;
  throw new UsageError(`${name} is a length of time of at most a year: 90s, 15m, 24h, 7d`);
}

interface RotateOptions extends Pick<KeyRuleOptions, 'expires'> {
  readonly workspace: string;
  readonly grace?: number;
}

async function rotateKey(session: Session, name: string, options: RotateOptions): Promise<Outcome> {
  const { workspace, grace: graceMs = graceDefaultMs, expires } = options;
  const stores = storesOn((await session.open({ writes: true })).store);
  const { keys } = stores;
  const rules = await toKeyRules(session, stores, expires === undefined ? {} : { expires });
  const nowMs = session.clock.nowMs();
  const former = findOnly(await collect(keys.list()), workspace, name, nowMs);
  const text = createApiKey(session.randomness);
  const parsed = parseApiKey(text);
  if (parsed === undefined) throw new Error('a new key must be readable');
  const { publicId } = parsed;
  // The successor first: a rotation that breaks off takes no key away.
  const counters = carriedSpending((await keys.readItem(former.publicId)) ?? {});
  await keys.write({ ...former, ...rules, ...parsed }, counters).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new Error(`the store gave no answer; should keys list show ${publicId}, revoke it: its text is lost`);
  });
  const endsAtMs = Math.min(nowMs + graceMs, former.expiresAtMs ?? Number.POSITIVE_INFINITY);
  const { publicId: formerId } = former;
  const isReplaced = await keys.replace(formerId, publicId, endsAtMs).catch(() => undefined);
  if (isReplaced === false) {
    await keys.write({ ...parsed, workspace, name, status: 'revoked' });
    throw new Error(`key ${name} of ${workspace} was rotated or revoked at the same moment: look at keys list`);
  }
  // The new key is there and its text is known nowhere else: it is printed all the same.
  const failure =
    isReplaced === true
      ? undefined
      : `the new key ${publicId} was made, and the former ${formerId} may have no end yet: give it one with keys update ${formerId} --expires`;
  const ends = isoTime(endsAtMs);
  return {
    json: {
      workspace,
      name,
      public_id: publicId,
      key: text,
      expires_at: isoTime(rules.expiresAtMs === undefined ? former.expiresAtMs : rules.expiresAtMs),
      former: { public_id: formerId, expires_at: failure === undefined ? ends : isoTime(former.expiresAtMs) },
    },
    lines: () => [
      ...(failure === undefined ? [`the former key ${formerId} ends ${ends}`] : []),
      `key ${name} of ${workspace} (shown once):`,
      text,
    ],
    failure,
  };
}

/** Throws an Error for the operator unless one active key has the name. */
function findOnly(records: readonly KeyRecord[], workspace: string, name: string, nowMs: number): KeyRecord {
  const [holder, ...others] = holdersOf(records, { workspace, name }, nowMs);
  if (holder === undefined) {
    const active = records.filter((record) => holdersOf([record], { ...record, workspace }, nowMs).length > 0);
    const names = active.map((record) => record.name).sort();
    throw new Error(`workspace ${workspace} has no active key ${name}; there are ${names.join(', ') || 'none'}`);
  }
  if (others.length === 0) return holder;
  const ids = [holder, ...others].map(({ publicId }) => publicId).join(', ');
  throw new Error(
    `several active keys of ${workspace} are called ${name} (${ids}): rename or revoke all but one first`,
  );
}
