// Sets, raises and removes the credit of workspaces for operators.
import { createCache } from '../../foundation/cache/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import {
  absent,
  and,
  atLeast,
  batchRuns,
  type Changes,
  type Condition,
  equals,
  type Item,
  less,
  or,
  type Store,
  StoreUnavailable,
  type Update,
} from '../../storage/store/index.ts';
import { readAmount } from '../holds/index.ts';
import { creditAttributes, creditKey } from './credit-account.ts';
import { type CreditOptions, type CreditPayments, createCreditPayments } from './credit-payments.ts';
import { gather, readShards, type ShardContext } from './credit-shards.ts';

export interface CreditLedger extends CreditPayments {
  /** Sets the credit of a new workspace; an existing workspace keeps its own credit. */
  create(workspace: string, credit: PicoUsd): Promise<'created' | 'existing'>;
  /** Adds credit, or removes some, once per id. */
  add(addition: Addition): AdditionOutcome;
  /**
   * Returns grants, the newest first. The list has additions and removals of 30 days, and before them the first grant
   * with all older grants.
   */
  additions(workspace: string): Promise<RecordedAddition[]>;
}

type AdditionOutcome = ReturnType<typeof addCredit>;

interface PendingAddition {
  readonly addition: Addition;
  readonly resolve: (outcome: AdditionOutcome) => void;
}

/** Maximum number of workspaces whose additions wait for each other. */
const addedWorkspacesMax = 1_000;

export function createCreditLedger(options: CreditOptions): CreditLedger {
  const { store, counters, clock } = options;
  /** Additions of one workspace run in turn. Each addition finishes the addition before it if necessary. */
  const additions = createCache<(addition: PendingAddition) => void>({ sizeMax: addedWorkspacesMax });

  async function addInTurn(additions: readonly PendingAddition[]): Promise<[]> {
    for (const { addition, resolve } of additions) {
      const creditAddition = addCredit({ store, counters }, addition);
      resolve(creditAddition);
      await creditAddition.catch(() => undefined);
    }
    return [];
  }

  return {
    ...createCreditPayments(options),
    create: (workspace, credit) => createCredit(store, workspace, credit, clock.nowMs()),
    add(addition) {
      const enter = additions.get(addition.workspace) ?? batchRuns(addInTurn);
      additions.set(addition.workspace, enter);
      const { promise, resolve } = Promise.withResolvers<Awaited<AdditionOutcome>>();
      enter({ addition, resolve });
      return promise;
    },
    additions: (workspace) => readAdditions(store, workspace),
  };
}

// Grants credit when a workspace is created, and adds or removes credit for an operator. Both may be called twice.
//
// Additions are remembered by id in a separate item, so that the counter's item stays small. An added amount moves from
// this item to the counter like a transfer between shards: it is noted under the next number and added unless the
// counter has seen that number, and then the note is deleted. If a process dies during an addition, the next addition
// finishes it. A removal that the credit does not cover is not made: its number is skipped, and its id forgotten.

/** Time for which an addition is remembered by its id. An operator who repeats an addition does so within days. */
const additionLifeMs = 30 * 86_400_000;
/** Maximum number of old additions that are forgotten with one further addition. */
const forgottenPerAdditionMax = 20;
const additionPrefix = 'addition#';
/**
 * Attribute with two numbers: of the last addition that arrived in the counter or was skipped, and of the last addition
 * that was skipped.
 */
const receivedAttribute = 'received#additions';
const passedAttribute = 'passed#additions';
/** Time at which the workspace was created. */
const grantedAtAttribute = 'granted_at_ms';
/**
 * Maximum number of tries after additions of other processes to the same workspace. Each try finishes the addition that
 * came first.
 */
const triesMax = 100;
/** Maximum tries to read two items between additions. */
const readTriesMax = 10;
/** Maximum number of tries of a removal while calls reserve the same credit. */
const removalTriesMax = 3;

interface Addition {
  readonly workspace: string;
  /** Number of shards of the account, from all of which credit is removed. Default 1. */
  readonly shards?: number | undefined;
  /** Amount; below 0 it removes credit, but never reserved or spent credit. */
  readonly amount: PicoUsd;
  /** Id of the addition. The same id adds once within 30 days. */
  readonly id: string;
  readonly nowMs: number;
}

const additionsKey = (workspace: string): string => `ADDITIONS#${workspace}`;

/** Sets the credit of a workspace that has no credit yet. Other workspaces stay unchanged. */
async function createCredit(
  store: Store,
  workspace: string,
  credit: PicoUsd,
  nowMs: number,
): Promise<'created' | 'existing'> {
  if (credit < 0n) throw new RangeError(`a credit of ${credit}: it must not be negative`);
  // A grant of 0 is written too, because it shows that the workspace exists.
  const changes = { ...grant(credit), set: { [grantedAtAttribute]: nowMs } };
  const { kind } = await writeCredit(store, workspace, changes, absent(creditAttributes.granted));
  return kind === 'written' ? 'created' : 'existing';
}

/**
 * Adds the amount. 'known': this id was added before. 'other_amount': this id was added before with another amount.
 * 'absent': the workspace has no credit yet, and needs a first grant. 'insufficient': less than the amount to remove is
 * free; nothing was removed.
 */
async function addCredit(
  context: Omit<ShardContext, 'account'>,
  addition: Addition,
): Promise<'added' | 'known' | 'other_amount' | 'absent' | 'insufficient'> {
  const { workspace, amount, id } = addition;
  const { store } = context;
  const entry = additionPrefix + id;
  if (amount === 0n) throw new RangeError('an addition of 0');
  const credit = await store.get('ledger', creditKey(workspace, 0));
  if (credit?.[creditAttributes.granted] === undefined) return 'absent';
  let seen = (await store.get('ledger', additionsKey(workspace))) ?? {};
  for (let tried = 0; tried < triesMax; tried += 1) {
    seen = await finishAddition(context, workspace, seen);
    const former = seen[entry] as { amount: unknown } | undefined;
    if (former !== undefined) {
      return readAmount(former.amount) === amount ? 'known' : 'other_amount';
    }
    const { kind, item = {} } = await store.update(noteAddition(addition, seen));
    seen = item;
    if (kind === 'refused') continue;
    seen = await finishAddition(context, workspace, seen);
    return seen[entry] === undefined ? 'insufficient' : 'added';
  }
  throw new StoreUnavailable(new Error(`other additions to ${workspace} came first in every try`));
}

function noteAddition({ workspace, shards = 1, amount, id, nowMs }: Addition, seen: Item): Update {
  const entry = additionPrefix + id;
  const former = Number(seen.addition_number ?? 0);
  const old = Object.entries(seen)
    .filter(([name]) => name.startsWith(additionPrefix))
    .filter(([, addition]) => (addition as { at_ms: number }).at_ms + additionLifeMs <= nowMs)
    .slice(0, forgottenPerAdditionMax);
  return {
    table: 'ledger',
    key: additionsKey(workspace),
    changes: {
      set: {
        [entry]: { amount, at_ms: nowMs },
        addition_number: former + 1,
        addition_out: { entry, amount, shards, number: former + 1 },
      },
      remove: old.map(([name]) => name),
    },
    condition: and(
      absent(entry),
      absent('addition_out'),
      former === 0 ? absent('addition_number') : equals('addition_number', former),
    ),
  };
}

interface AdditionUnderWay {
  readonly entry: string;
  readonly amount: unknown;
  readonly shards: number;
  readonly number: number;
}

/** Finishes a pending addition. Returns the additions afterwards, or `additions` if none is pending. */
async function finishAddition(context: Omit<ShardContext, 'account'>, workspace: string, seen: Item): Promise<Item> {
  const underWay = seen.addition_out as AdditionUnderWay | undefined;
  if (underWay === undefined) return seen;
  const { entry, number, shards } = underWay;
  const amount = readAmount(underWay.amount);
  const account = { workspace, shards: Number(shards), spendLimit: null };
  const isDone = await arrive({ ...context, account }, amount, Number(number));
  const { item = {} } = await context.store.update({
    table: 'ledger',
    key: additionsKey(workspace),
    changes: { remove: isDone ? ['addition_out'] : ['addition_out', entry] },
    condition: equals(['addition_out', 'number'], number),
    repeatable: true,
  });
  return item;
}

/** Adds the amount to the counter. Returns false if the credit does not cover it, and its number was skipped. */
async function arrive(context: ShardContext, amount: PicoUsd, number: number): Promise<boolean> {
  const { store, account } = context;
  for (let tried = 1; ; tried += 1) {
    const isCovered = tried === 1 || (tried <= removalTriesMax && (await cover(context, -amount)));
    const isNew = or(absent(receivedAttribute), less(receivedAttribute, number));
    const changes = isCovered
      ? { ...grant(amount), set: { [receivedAttribute]: number } }
      : { set: { [receivedAttribute]: number, [passedAttribute]: number } };
    const condition = isCovered && amount < 0n ? and(isNew, atLeast(creditAttributes.balance, -amount)) : isNew;
    const { kind, item = {} } = await writeCredit(store, account.workspace, changes, condition);
    if (kind === 'written') return isCovered;
    if (Number(item[receivedAttribute] ?? 0) >= number) return Number(item[passedAttribute]) !== number;
  }
}

/** Releases expired reservations and transfers credit from the other shards. Returns false when that is not enough. */
async function cover(context: ShardContext, amount: PicoUsd): Promise<boolean> {
  const shards = await readShards(context);
  const available = shards.reduce((sum, shard) => sum + readAmount(shard.item[creditAttributes.balance]), 0n);
  if (available < amount) return false;
  await gather(context, shards, 0, amount);
  return true;
}

const grant = (amount: PicoUsd): Changes => ({
  add: { [creditAttributes.granted]: amount, [creditAttributes.balance]: amount },
});

interface RecordedAddition {
  /** Null for the first grant, together with everything that was added too long ago to be remembered. */
  readonly id: string | null;
  /** Amount, below 0 for a removal. */
  readonly amount: PicoUsd;
  /** Null for a first grant whose time was not recorded. */
  readonly atMs: number | null;
}

/**
 * Returns grants, additions and removals, the newest first; their sum is the granted total. Empty when there is no
 * credit.
 */
async function readAdditions(store: Store, workspace: string): Promise<RecordedAddition[]> {
  for (let tried = 0; tried < readTriesMax; tried += 1) {
    const additionsItem = (await store.get('ledger', additionsKey(workspace))) ?? {};
    const credit = (await store.get('ledger', creditKey(workspace, 0))) ?? {};
    if (credit[creditAttributes.granted] === undefined) return [];
    const receivedNumber = Number(credit[receivedAttribute] ?? 0);
    // The addition arrived in the counter between the two reads.
    if (receivedNumber > Number(additionsItem.addition_number ?? 0)) continue;
    const underWay = additionsItem.addition_out as AdditionUnderWay | undefined;
    const isOut =
      underWay !== undefined &&
      (Number(underWay.number) > receivedNumber || Number(credit[passedAttribute]) === Number(underWay.number));
    const additions = Object.entries(additionsItem)
      .filter(([name]) => name.startsWith(additionPrefix) && !(isOut && name === underWay.entry))
      .map(([name, addition]) => {
        const { amount, at_ms: atMs } = addition as { readonly amount: unknown; readonly at_ms: unknown };
        return { id: name.slice(additionPrefix.length), amount: readAmount(amount), atMs: Number(atMs) };
      })
      .sort((a, b) => b.atMs - a.atMs || (a.id < b.id ? -1 : 1));
    const rest = additions.reduce(
      (remainder, { amount }) => remainder - amount,
      readAmount(credit[creditAttributes.granted]),
    );
    const grantedAt = credit[grantedAtAttribute];
    return [...additions, { id: null, amount: rest, atMs: grantedAt === undefined ? null : Number(grantedAt) }];
  }
  throw new StoreUnavailable(new Error(`additions to ${workspace} arrived during every try to read them`));
}

const writeCredit = (store: Store, workspace: string, changes: Changes, condition: Condition) =>
  store.update({ table: 'ledger', key: creditKey(workspace, 0), changes, condition, repeatable: true });
