// The credit of workspaces for operators: set when a workspace is created, added to, removed.
import { createCache } from '../../foundation/cache/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { batchRuns } from '../../storage/store/index.ts';
import { type CreditOptions, type CreditPayments, createCreditPayments } from './credit-payments.ts';
import { type Addition, addCredit, createCredit, type RecordedAddition, readAdditions } from './grants.ts';

export interface CreditLedger extends CreditPayments {
  /** Sets the credit of a new workspace; one that exists keeps its own. */
  create(workspace: string, credit: PicoUsd): Promise<'created' | 'existing'>;
  /** Adds credit, or removes some, once per id. */
  add(addition: Addition): AdditionOutcome;
  /**
   * Grants, the newest first: additions and removals of 30 days, and before them the first grant with all older ones.
   */
  additions(workspace: string): Promise<RecordedAddition[]>;
}

type AdditionOutcome = ReturnType<typeof addCredit>;

interface PendingAddition {
  readonly addition: Addition;
  readonly resolve: (outcome: AdditionOutcome) => void;
}

/** Whose additions wait for each other. */
const addedWorkspacesMax = 1_000;

export function createCreditLedger(options: CreditOptions): CreditLedger {
  const { store, counters, clock } = options;
  /** Additions of one workspace run in turn: each finishes the one before it if necessary. */
  const additions = createCache<(addition: PendingAddition) => void>({ sizeMax: addedWorkspacesMax });

  async function addInTurn(additions: readonly PendingAddition[]): Promise<[]> {
    for (const { addition, resolve } of additions) {
      const added = addCredit({ store, counters }, addition);
      resolve(added);
      await added.catch(() => undefined);
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
