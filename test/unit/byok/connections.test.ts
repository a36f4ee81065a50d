import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { type Connection, quoteBudget } from '../../../shared/configuration/byok/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';

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
