// Credit comes in: when the workspace is created, and when an operator adds some. An operator may also take some away.
// Each may be asked for twice.

import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import { readAmount, toUpdate, type WriteParts } from '../holds/index.ts';
import { creditAttributes, creditKey } from './credit-account.ts';
import { gather, readShards } from './shards.ts';

/** How long an addition is remembered by its id. An operator who repeats one does it within days. */
const additionKeptMs = 30 * 86_400_000;
/** Old additions one further addition forgets. */
const forgottenPerAdditionMax = 20;
const additionPrefix = 'addition#';
/** Tries to take credit away while calls take it too. */
const triesMax = 3;

export interface Addition {
  readonly workspace: string;
  /** Of the account. Credit is taken away from all of them. Default 1. */
  readonly shards?: number | undefined;
  /** Below 0: takes credit away, never what is held or spent. */
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

/**
 * 'known': this id was added before. 'absent': the workspace has no credit yet, create it first. 'insufficient': less than
 * what should be taken away is neither held nor spent; nothing was.
 */
export async function addCredit(
  store: Store,
  addition: Addition,
): Promise<'added' | 'known' | 'absent' | 'insufficient'> {
  const { workspace, shards = 1, amount, id, nowMs } = addition;
  if (amount === 0n) throw new RangeError('an addition of 0');
  for (let tried = 0; tried < triesMax; tried += 1) {
    const { kind, item = {} } = await grant(store, workspace, amount, {
      set: ['#addition = :addition'],
      conditions: [
        'attribute_exists(#granted) AND attribute_not_exists(#addition)',
        ...(amount < 0n ? ['#balance >= :taken'] : []),
      ],
      names: { '#addition': additionPrefix + id },
      values: { ':addition': { amount, at_ms: nowMs }, ...(amount < 0n ? { ':taken': -amount } : {}) },
    });
    if (kind === 'written') {
      await forgetAdditions(store, workspace, item, nowMs);
      return 'added';
    }
    const former = item[additionPrefix + id] as { amount: unknown } | undefined;
    if (former !== undefined) {
      if (readAmount(former.amount) === amount) return 'known';
      throw new Error(`the addition ${id} was made before, of another amount`);
    }
    if (item[creditAttributes.granted] === undefined) return 'absent';
    // Its own shard is short: expired holds are released, and the other shards give what they have.
    const context = { store, account: { workspace, shards, spendLimit: null } };
    const seen = await readShards(context, nowMs);
    const available = seen.reduce((sum, shard) => sum + readAmount(shard.item[creditAttributes.balance]), 0n);
    if (available < -amount) return 'insufficient';
    await gather(context, seen, 0, -amount);
  }
  return 'insufficient';
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
