import fc from 'fast-check';
import { beforeEach, describe, expect, it } from '#jest';
import {
  type Connection,
  createConnectionList,
  createConnectionReader,
  quoteBudget,
} from '../../../shared/configuration/byok/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../../shared/foundation/constants/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import { StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { vaultOn } from './watched-wrapper.ts';

const empty = new Uint8Array();
const sealed = { v: 1, wrapped_key: empty, iv: empty, tag: empty, ciphertext: empty };
const connection = (provider: string, more: Partial<Connection> = {}): Connection => ({
  workspace: 'team-a',
  provider,
  policy: 'allowed',
  budgetPicoUsd: null,
  sealed,
  ...more,
});
const usd = (text: string): bigint => parseUsd(text) ?? 0n;

describe('the budget of a connection', () => {
  const budgeted = connection('acme', { budgetPicoUsd: usd('10') });

  it('is held in a counter of that connection in the ledger, for the worst case of the call', () => {
    expect(quoteBudget(budgeted, usd('0.25'))).toEqual({
      kind: 'held',
      amount: usd('0.25'),
      counter: {
        table: 'ledger',
        key: 'BYOKBUDGET#team-a#acme',
        balances: [{ attribute: 'balance_pico_usd', limit: usd('10') }],
        spentAttribute: 'spent_pico_usd',
      },
    });
  });

  it('never lets a hold through that is above it, and refuses none for its size that is not', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.bigInt(0n, 10n ** 15n), (limit, worstCase) => {
        const quote = quoteBudget(connection('acme', { budgetPicoUsd: limit }), worstCase);
        expect(quote instanceof GatewayError).toBe(worstCase > limit);
        if (!(quote instanceof GatewayError)) expect(quote.kind).toBe(worstCase === 0n ? 'free' : 'held');
      }),
    );
  });
});

describe('the reader', () => {
  let reads: string[];
  let isDown: boolean;
  let clock: ReturnType<typeof manualClock>;
  beforeEach(() => {
    reads = [];
    isDown = false;
    clock = manualClock();
  });

  const stored = { provider: 'acme', policy: 'always' } as const;
  const connectionIn = (workspace: string): Connection => ({
    ...stored,
    workspace,
    budgetPicoUsd: null,
    sealed: undefined,
  });

  const store = {
    get: async (_table: string, key: string) => {
      reads.push(key.replace('WORKSPACE#', ''));
      if (isDown) throw new StoreUnavailable('down');
      return { connections: [{ ...stored, budget_usd: null }] };
    },
  };
  const reader = () => createConnectionReader(createConnectionList(store, clock), vaultOn());

  describe('the connections an instance remembers', () => {
    it('cost one read while they are fresh, for any number of callers, and one after that', async () => {
      const remembering = reader();
      await Promise.all([remembering.connectionsOf('a'), remembering.connectionsOf('a')]);
      clock.advance(configFreshMs - 1);
      expect(await remembering.connectionsOf('a')).toEqual([connectionIn('a')]);
      expect(reads).toEqual(['a']);
      clock.advance(1);
      await remembering.connectionsOf('a');
      expect(reads).toEqual(['a', 'a']);
    });

    it('are never served old while the store is down, and a failure is not remembered', async () => {
      const remembering = reader();
      await remembering.connectionsOf('a');
      clock.advance(configFreshMs);
      isDown = true;
      await expect(remembering.connectionsOf('a')).rejects.toThrow(StoreUnavailable);
      isDown = false;
      expect(await remembering.connectionsOf('a')).toHaveLength(1);
    });

    it('are bounded: the workspace that was used longest ago is forgotten', async () => {
      const remembering = reader();
      for (let index = 0; index <= cachedWorkspacesMax; index += 1) await remembering.connectionsOf(`w${index}`);
      await remembering.connectionsOf('w1');
      expect(reads).toHaveLength(cachedWorkspacesMax + 1);
      await remembering.connectionsOf('w0');
      expect(reads).toHaveLength(cachedWorkspacesMax + 2);
    });

    it('without a key cannot be opened', async () => {
      await expect(reader().openKey(connectionIn('a'))).rejects.toMatchObject({ name: 'SealBroken' });
    });
  });
});
