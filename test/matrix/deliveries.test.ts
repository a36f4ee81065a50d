// How an answer reaches its client, for every interface at every format: in the delivery that the client asked for,
// whole or with an end that says how it broke, and with the fields that were dropped for it.
import { expect } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines } from '../support/harness.ts';
import { askRows, callPicoUsd, callUsd, idle, idleField, type MatrixCell, type Offer } from './ask-rows.ts';
import { type MatrixColumn, reasons } from './columns.ts';

/** The simulator's behaviours with which a provider of each format reports that our account is at its limit. */
const limitsOfAccounts: Readonly<Record<string, string>> = {
  messages: 'error-400:insufficient_quota',
  converse: 'error-402',
  'generate-content': 'error-402',
  'kind bedrock': 'error-402',
  'kind google': 'error-402',
  'kind vertex': 'error-402',
};
const limitOf = ({ format }: MatrixColumn): string => limitsOfAccounts[format] ?? 'error-429:insufficient_quota';
const leavingKey = newKey();
const dear = { price_per_request: '0.02' };

function otherDelivery(column: MatrixColumn): Offer[] {
  if (reasons['has one delivery'](column)) return [];
  if (column.interfaceId === 'speech') return [{ behaviour: 'echo', gate: 'toggled' }];
  return [{ behaviour: isStream(column) ? 'json-instead-of-stream' : 'stream-instead-of-json' }];
}

const isStream = ({ delivery }: MatrixColumn): boolean => delivery === 'stream';

const priceOf = (cell: MatrixColumn): bigint => (reasons['has no price'](cell) ? 0n : callPicoUsd);

/** Checks that an answer is whole. `end` is the end of the text that the model wrote. */
async function expectWhole({ delivery, entry }: MatrixCell, response: Response, end = ''): Promise<void> {
  const body = await response.text();
  expect({ status: response.status, body }).toMatchObject({ status: 200 });
  const type = response.headers.get('content-type') ?? '';
  if (delivery === 'stream') {
    expect(type).toContain('text/event-stream');
    expect(dataLines(body).length).toBeGreaterThan(0);
    expect(entry.brokenWith?.(body)).toBeUndefined();
    expect(entry.text?.streamed(body) ?? end).toContain(end);
  } else if (type.startsWith('audio/')) expect(body.length).toBeGreaterThan(0);
  else {
    expect(type).toContain('application/json');
    expect(entry.text?.whole(JSON.parse(body)) ?? end).toContain(end);
  }
}

askRows('deliveries', {
  models: {
    other: otherDelivery,
    failing: () => [{ behaviour: 'error-500' }],
    breaking: (column) => (isStream(column) ? [{ behaviour: 'error-after-chunks:2' }] : []),
    leaving: (column) => [{ behaviour: 'echo', gate: isStream(column) ? 'unfinished' : 'held' }],
    limited: (column) => [{ behaviour: limitOf(column) }],
    'limited-first': (column) => [{ behaviour: limitOf(column) }, { behaviour: 'echo', more: dear }],
    dropping: () => [{ behaviour: 'echo', provider: { drops: { members: [idleField] } } }],
  },
  options: () => ({
    moreWorkspaces: [{ id: 'leaving', credit_usd: '100', keys: [{ name: 'k', key: leavingKey }] }],
  }),
  ask: {
    async 'an answer in the other delivery'(cell) {
      const response = await cell.send({ model: 'other' });
      await expectWhole(cell, response, 'one by one.');
      expect(cell.received('other')).toHaveLength(1);
      expect(await cell.recordOf(response)).toMatchObject({ cost_usd: callUsd });
    },
    async 'an error before output'(cell) {
      const response = await cell.send({ model: 'failing' });
      expect(await response.clone().json()).toMatchObject(cell.entry.errorForm ?? { error: 'no_available_provider' });
      await expectError(response, 502, 'no_available_provider');
      expect(cell.received('failing')).toHaveLength(1);
      expect(await cell.recordOf(response)).toMatchObject({ cost_usd: '0' });
    },
    async 'an error after output'(cell) {
      const call = { model: 'breaking', headers: { 'idempotency-key': `${cell.name}-broken` } };
      const response = await cell.send(call);
      const text = await response.text();
      expect([response.status, cell.entry.brokenWith?.(text)]).toEqual([200, 'no_available_provider']);
      expect(text).not.toContain('The server had an error');
      expect(await cell.recordOf(response)).toMatchObject({ outcome: 'cut', cost_usd: callUsd });
      // Nothing of it is stored, so its key may run again.
      expect(cell.received('breaking')).toHaveLength(1);
      const again = await cell.send(call);
      await again.arrayBuffer();
      expect(again.headers.get('idempotent-replayed')).toBeNull();
      expect(cell.received('breaking')).toHaveLength(2);
    },
    async 'a client that leaves'(cell) {
      const client = new AbortController();
      const headers = { 'x-gw-trace-id': `${cell.name}-leaves` };
      const call = cell.send({ model: 'leaving', headers, key: leavingKey, signal: client.signal });
      if (isStream(cell)) await (await call).body?.getReader().read();
      else await cell.gate.arrived(cell.providersOf('leaving')[0] ?? '');
      client.abort();
      await call.catch(() => {});
      // This request is answered after the gateway has seen the connection close.
      await (await cell.harness.get('/models/none')).text();
      cell.gate.release();
      await cell.harness.settled();
      const records = (await cell.harness.records('leaving')).filter(
        ({ traceId }) => traceId === headers['x-gw-trace-id'],
      );
      expect(records).toMatchObject([{ outcome: 'client_gone', costPicoUsd: priceOf(cell) }]);
      expect(cell.received('leaving')).toHaveLength(1);
    },
    async 'our account at its limit'(cell) {
      const refusal = await cell.send({ model: 'limited' });
      expect(refusal.headers.get('x-should-retry')).toBe('false');
      await expectError(refusal, 502, 'no_available_provider');
      const response = await cell.send({ model: 'limited-first' });
      await expectWhole(cell, response);
      expect(cell.received('limited-first').map(({ provider }) => provider)).toEqual(cell.providersOf('limited-first'));
    },
    async 'a field that is dropped'(cell) {
      const response = await cell.send({ model: 'dropping', more: idle });
      await response.arrayBuffer();
      expect([response.status, response.headers.get('x-gw-left-out')]).toEqual([200, idleField]);
      const [call] = cell.received('dropping');
      expect(Object.keys(call?.body ?? {})).not.toContain(idleField);
      expect(await cell.recordOf(response)).toMatchObject({ left_out: [idleField] });
    },
  },
});
