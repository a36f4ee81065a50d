import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  budgetExceeded,
  type Connection,
  connectionFacts,
  quoteBudget,
  requiresManagedFunding,
} from '../../../shared/configuration/byok/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import { readByokFacts } from '../../../shared/routing/planner/index.ts';

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
const enabled = { features: { byok: true, presets: false } };
const disabled = { features: { byok: false, presets: false } };
const usd = (text: string): bigint => parseUsd(text) ?? 0n;

/** What the planner makes of the facts. */
const planned = (workspace: typeof enabled, stored: readonly Connection[]) =>
  readByokFacts({ hasHeaderKey: false, connections: connectionFacts(workspace, stored).connections });

describe('the connections of a plain call', () => {
  it('bind it to stored connections only where one of them says always', () => {
    expect(planned(enabled, [connection('a'), connection('b')]).isRequired).toBe(false);
    expect(planned(enabled, [connection('a'), connection('b', { policy: 'always' })]).isRequired).toBe(true);
    expect(planned(enabled, []).isRequired).toBe(false);
  });

  it('pay for their own provider and for no other', () => {
    const facts = connectionFacts(enabled, [connection('a'), connection('b', { policy: 'always' })]);
    expect(facts.connectionTo('a')?.policy).toBe('allowed');
    expect(facts.connectionTo('b')?.policy).toBe('always');
    expect(facts.connectionTo('c')).toBeUndefined();
  });

  it('without a key pay for no call, but their always still keeps the call from our credit', () => {
    const keyless = [connection('a', { policy: 'always', sealed: undefined })];
    expect(connectionFacts(enabled, keyless).connectionTo('a')).toBeUndefined();
    expect(connectionFacts(enabled, keyless).connections).toEqual([
      { provider: 'a', policy: 'always', isAuthorised: false },
    ]);
    expect(planned(enabled, keyless).isRequired).toBe(true);
  });

  it('reach the planner without anything sealed', () => {
    expect(connectionFacts(enabled, [connection('a')]).connections).toEqual([
      { provider: 'a', policy: 'allowed', isAuthorised: true },
    ]);
  });

  it('mean nothing where BYOK is not enabled', () => {
    const always = [connection('a', { policy: 'always' })];
    expect(connectionFacts(disabled, always).connections).toEqual([]);
    expect(connectionFacts(disabled, always).connectionTo('a')).toBeUndefined();
    expect(planned(disabled, always).isRequired).toBe(false);
  });
});

describe('a function call', () => {
  const always = [connection('a', { policy: 'always', sealed: undefined })];

  it('requires managed funding with a key header, whatever is enabled', () => {
    expect(requiresManagedFunding('sk-own', enabled, [])).toBe(true);
    expect(requiresManagedFunding('sk-own', disabled, [])).toBe(true);
  });

  it('requires managed funding with a connection that says always, where BYOK is enabled', () => {
    expect(requiresManagedFunding(undefined, enabled, always)).toBe(true);
    expect(requiresManagedFunding(undefined, disabled, always)).toBe(false);
    expect(requiresManagedFunding(undefined, enabled, [connection('a')])).toBe(false);
    expect(requiresManagedFunding(undefined, enabled, [])).toBe(false);
  });
});

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

  it('that is none asks for no price: an unpriced call is served', () => {
    expect(quoteBudget(connection('acme'), null)).toEqual({ kind: 'free' });
  });

  it('refuses a call without a price as byok_budget_unquotable', () => {
    expect(quoteBudget(budgeted, null)).toMatchObject({ code: 'byok_budget_unquotable' });
  });

  it('refuses a call above the whole budget, and names both amounts', () => {
    const refusal = quoteBudget(budgeted, usd('10.5'));
    expect(refusal).toMatchObject({ code: 'byok_budget_exceeded' });
    expect((refusal as GatewayError).message).toContain('10.5 USD');
    expect(budgetExceeded(usd('1'), -5n).message).toContain('and 0 USD');
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
