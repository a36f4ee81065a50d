// One replacement of the configuration at a time, over all processes: between the moment when it is compared with what is stored and
// its last write, no other one begins. A process that died meanwhile is waited for no longer than any request runs.
import type { Store } from '../../../shared/storage/store/index.ts';

/** In `config`. */
const claimKey = 'CONFIGURATION_REPLACEMENT';
const claimLifeMs = 120_000;

/** Undefined: another one is being made. */
export async function asOnlyReplacement<Answer>(
  store: Pick<Store, 'put'>,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
  work: () => Promise<Answer>,
): Promise<Answer | undefined> {
  const claim = (endsAtMs: number) => ({ pk: claimKey, claimed_by: id, ends_at_ms: endsAtMs });
  const { kind } = await store.put({
    table: 'config',
    item: claim(nowMs + claimLifeMs),
    condition: 'attribute_not_exists(pk) OR ends_at_ms <= :now OR claimed_by = :id',
    values: { ':now': nowMs, ':id': id },
    repeatable: true,
  });
  if (kind !== 'written') return undefined;
  try {
    return await work();
  } finally {
    const own = { condition: 'claimed_by = :id', values: { ':id': id }, repeatable: true };
    // What was done counts; where this is lost, the claim ends by its time.
    await store.put({ table: 'config', item: claim(0), ...own }).catch(() => undefined);
  }
}
