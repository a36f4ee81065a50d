// Limits of keys, workspaces and providers, for every interface at every format.
import { expect } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { manualClock } from '../support/manual-clock.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { eventually } from '../support/watched-clock.ts';
import { askRows, type Call, callUsd, keysByColumn, type MatrixCell, mapColumns } from './ask-rows.ts';

const alertsUrl = 'GW_TEST_MATRIX_ALERTS';
const [keys, rateKeys] = [
  { poorKey: newKey(), poorWorkspace: newKey(), empty: newKey(), single: newKey(), first: newKey(), second: newKey() },
  new Map(mapColumns(({ name }) => [name, newKey()] as const)),
];
const belowOneCall = '0.005';
let receiver: ScriptedServer;

async function expectServed(cell: MatrixCell, call: Call): Promise<void> {
  const response = await cell.send(call);
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
}

/** Checks that the call is refused before any provider is called. */
async function expectRefusal(cell: MatrixCell, call: Call, status: number, code: string): Promise<void> {
  const before = cell.received(call.model).length;
  const response = await cell.send(call);
  if (status === 429) expect(response.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
  await expectError(response, status, code);
  expect(cell.received(call.model)).toHaveLength(before);
}

/**
 * Checks that a second call is refused while a first one is held at its provider, and is served after the first has
 * ended.
 */
async function expectOneAtOnce(
  cell: MatrixCell,
  [first, second]: readonly [string, string],
  code: string,
): Promise<void> {
  const [provider = ''] = cell.providersOf('held');
  const running = cell.send({ model: 'held', key: first });
  await cell.gate.arrived(provider);
  await expectRefusal(cell, { model: 'echo', key: second }, 429, code);
  cell.gate.release();
  const response = await running;
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  await cell.harness.settled();
  await expectServed(cell, { model: 'echo', key: second });
  await cell.harness.settled();
}

askRows('limits', {
  models: {
    echo: () => [{ behaviour: 'echo' }],
    held: () => [{ behaviour: 'echo', gate: 'held' }],
    once: () => [{ behaviour: 'echo', more: { rate_limit_rpm: 1 } }],
  },
  async options() {
    receiver = await startScriptedServer([{ status: 200, body: 'ok' }]);
    process.env[alertsUrl] = receiver.endpoint;
    const rated = mapColumns(({ name }) => ({ name, key: rateKeys.get(name), rpm: 1 }));
    const spending = mapColumns(({ name }) => ({ name, key: keysByColumn.get(name), spend_limit_usd: '0.015' }));
    const one = (key: string, more: object = {}) => [{ name: 'k', key, ...more }];
    return {
      clock: manualClock(),
      service: { queue_ms: 0, alerts: { url: { env: alertsUrl }, at: [50] } },
      moreWorkspaces: [
        { id: 'rated', credit_usd: '100', keys: rated },
        { id: 'spending', credit_usd: '100', keys: spending },
        { id: 'poor-key', credit_usd: '100', keys: one(keys.poorKey, { spend_limit_usd: belowOneCall }) },
        { id: 'poor', credit_usd: '100', spend_limit_usd: belowOneCall, keys: one(keys.poorWorkspace) },
        { id: 'empty', credit_usd: '0', keys: one(keys.empty) },
        { id: 'single-key', credit_usd: '100', keys: one(keys.single, { concurrency: 1 }) },
        {
          id: 'single',
          credit_usd: '100',
          concurrency: 1,
          keys: [
            { name: 'first', key: keys.first },
            { name: 'second', key: keys.second },
          ],
        },
      ],
    };
  },
  async stop() {
    await receiver.stop();
    delete process.env[alertsUrl];
  },
  ask: {
    async 'requests a minute of a key'(cell) {
      const call = { model: 'echo', key: rateKeys.get(cell.name) ?? '' };
      await expectServed(cell, call);
      await expectRefusal(cell, call, 429, 'api_key_rate_limit');
    },
    'a spend limit of a key': (cell) =>
      expectRefusal(cell, { model: 'echo', key: keys.poorKey }, 402, 'PAYMENT_REQUIRED'),
    'a spend limit of a workspace': (cell) =>
      expectRefusal(cell, { model: 'echo', key: keys.poorWorkspace }, 402, 'PAYMENT_REQUIRED'),
    'a workspace without credit': (cell) =>
      expectRefusal(cell, { model: 'echo', key: keys.empty }, 402, 'PAYMENT_REQUIRED'),
    'concurrent calls of a key': (cell) => expectOneAtOnce(cell, [keys.single, keys.single], 'api_key_rate_limit'),
    'concurrent calls of a workspace': (cell) => expectOneAtOnce(cell, [keys.first, keys.second], 'rate_limited'),
    async 'requests a minute of a provider'(cell) {
      await expectServed(cell, { model: 'once' });
      await expectRefusal(cell, { model: 'once' }, 429, 'rate_limited');
    },
    async 'an alert of spending'(cell) {
      await expectServed(cell, { model: 'echo', key: keysByColumn.get(cell.name) ?? '' });
      await cell.harness.settled();
      const alerts = () => receiver.requests.map(({ body }) => JSON.parse(body)).filter(({ key }) => key === cell.name);
      await eventually(() => alerts().length > 0);
      expect(alerts()).toMatchObject([{ workspace: 'spending', percent: 50, spent_usd: callUsd }]);
    },
  },
});
