// Credit comes in: when the workspace is created, and when an operator adds some. Both may be asked for twice.

import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import { readAmount, toUpdate, type WriteParts } from '../holds/index.ts';
import { creditAttributes, creditKey } from './credit-account.ts';

/** How long an addition is remembered by its id. An operator who repeats one does it within days. */
const additionKeptMs = 30 * 86_400_000;
/** Old additions one further addition forgets. */
const forgottenPerAdditionMax = 20;
const additionPrefix = 'addition#';

export interface Addition {
  readonly workspace: string;
  readonly amount: PicoUsd;
  /** The same id adds once, within 30 days. */
  readonly id: string;
  readonly nowMs: number;
}

/** Sets the credit of a workspace that has none yet, and leaves every other alone. */
export async function createCredit(store: Store, workspace: string, credit: PicoUsd): Promise<'created' | 'existing'> {
  if (credit < 0n) throw new RangeError(`a credit of ${credit}: it must not be negative`);
  const result = await grant(store, workspace, credit, { conditions: ['attribute_not_exists(#granted)'] });
  return result.kind === 'written' ? 'created' : 'existing';
}

/** 'known': this id was added before. 'absent': the workspace has no credit yet, create it first. */
export async function addCredit(store: Store, addition: Addition): Promise<'added' | 'known' | 'absent'> {
  const { workspace, amount, id, nowMs } = addition;
  if (amount <= 0n) throw new RangeError(`an addition of ${amount}: it must be above 0`);
  const { kind, item = {} } = await grant(store, workspace, amount, {
    set: ['#addition = :addition'],
    conditions: ['attribute_exists(#granted) AND attribute_not_exists(#addition)'],
    names: { '#addition': additionPrefix + id },
    values: { ':addition': { amount, at_ms: nowMs } },
  });
  if (kind === 'written') {
    await forgetAdditions(store, workspace, item, nowMs);
    return 'added';
  }
  const former = item[additionPrefix + id] as { amount: unknown } | undefined;
  if (former === undefined) return 'absent';
  if (readAmount(former.amount) !== amount) throw new Error(`the addition ${id} was made before, of another amount`);
  return 'known';
}

const grant = (store: Store, workspace: string, amount: PicoUsd, parts: WriteParts) =>
  store.update(
    toUpdate('ledger', creditKey(workspace, 0), [
      parts,
      {
        set: [
          '#granted = if_not_exists(#granted, :zero) + :amount',
          '#balance = if_not_exists(#balance, :zero) + :amount',
        ],
        names: { '#granted': creditAttributes.granted, '#balance': creditAttributes.balance },
        values: { ':zero': 0n, ':amount': amount },
      },
    ]),
  );

async function forgetAdditions(store: Store, workspace: string, item: Item, nowMs: number): Promise<void> {
  const old = Object.entries(item)
    .filter(([attribute]) => attribute.startsWith(additionPrefix))
    .filter(([, addition]) => (addition as { at_ms: number }).at_ms + additionKeptMs <= nowMs)
    .slice(0, forgottenPerAdditionMax);
  if (old.length === 0) return;
  const names = Object.fromEntries(old.map(([attribute], index) => [`#addition${index}`, attribute]));
  await store.update(toUpdate('ledger', creditKey(workspace, 0), [{ remove: Object.keys(names), names }]));
}
