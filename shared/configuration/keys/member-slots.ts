// Counts the keys of one person in a workspace. Their public ids are in one item beside the keys, which is written
// conditionally before a key is made: of concurrent requests no more than the maximum get one.
import { absent, equals, type Item, type Store, writeOptimistically } from '../../storage/store/index.ts';
import { isKeyExpired, type KeyRecord, readKeyItem, recordOf } from './key-record.ts';

const slotsPrefix = 'member#';
export const isSlotsItem = ({ pk }: Item): boolean => String(pk).startsWith(slotsPrefix);

/** How long a writer may take from the claim to the key. */
const claimMs = 10_000;

export interface WantedSlot extends Pick<KeyRecord, 'workspace' | 'publicId'> {
  readonly owner: string;
  /** Keys at once, ending ones among them. */
  readonly max: number;
}

interface Claim {
  readonly public_id: string;
  readonly claimed_at_ms: number;
}

/** False: the person has as many keys as there may be. Throws WriteRefused when other claims keep coming in between. */
export async function claimSlot(store: Store, wanted: WantedSlot, nowMs: number): Promise<boolean> {
  const pk = `${slotsPrefix}${wanted.workspace}#${wanted.owner}`;
  const outcome = await writeOptimistically('the keys of this person are', async () => {
    const former = await store.get('keys', pk);
    const claims = (former?.claims ?? []) as readonly Claim[];
    const live = await filterLive(store, claims, nowMs);
    if (live.length >= wanted.max) return 'full';
    const next = [...live, { public_id: wanted.publicId, claimed_at_ms: nowMs }];
    const version = Number(former?.version ?? 0);
    const result = await store.put({
      table: 'keys',
      item: { pk, claims: next, version: version + 1 },
      condition: former === undefined ? absent('pk') : equals('version', version),
    });
    return result.kind === 'written' ? 'claimed' : undefined;
  });
  return outcome === 'claimed';
}

async function filterLive(store: Store, claims: readonly Claim[], nowMs: number): Promise<Claim[]> {
  const live: Claim[] = [];
  for (const claim of claims) {
    const item = await readKeyItem(store, claim.public_id);
    const record = item && recordOf(item, claim.public_id);
    const isYoung = claim.claimed_at_ms > nowMs - claimMs;
    if (record === undefined ? isYoung : isLive(record, nowMs)) live.push(claim);
  }
  return live;
}

const isLive = (record: KeyRecord, nowMs: number): boolean =>
  record.status === 'active' && !isKeyExpired(record, nowMs);
