// Operators run `gw alerts test` and name a receiver before the first alert.
import { join } from 'node:path';
import { afterEach, expect, it } from '#jest';
import { describeStart } from '../../infra/local/describe-start.ts';
import { startHarness } from '../support/harness.ts';
import { type ScriptedBehaviour, startScriptedServer } from '../support/scripted-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestStore } from '../support/test-store.ts';
import { operate, operateJson } from './operator.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const models = { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] };
const alerts = { url: { env: 'GW_TEST_HOOK' }, at: [80], secret: { env: 'GW_TEST_HOOK_SECRET' } };

async function start(behaviour: ScriptedBehaviour, service: Record<string, unknown> = { alerts }) {
  const receiver = await startScriptedServer([behaviour]);
  const data = join(temporaryFolder(), 'data');
  const harness = await startHarness({ testStore: await startTestStore(data), models, service });
  stops.push(
    () => receiver.stop(),
    () => harness.stop(),
  );
  const variables = { GW_TEST_HOOK: `${receiver.endpoint}/canary`, GW_TEST_HOOK_SECRET: 'canary' };
  return { harness, receiver, line: `alerts test --data ${data}`, variables };
}

it('gw alerts test sends one signed alert and says that the receiver took it', async () => {
  const { receiver, line, variables } = await start({ status: 204, body: '' });
  const { code, out } = await operate(line, { variables });
  expect([code, out]).toEqual([0, expect.stringMatching(/^test alert [\w-]{12}: the receiver took it, status 204$/)]);
  expect(await operateJson(line, { variables })).toMatchObject({ status: 204, fault: null });
  expect(receiver.requests).toHaveLength(2);
  expect(receiver.requests[0]?.headers['x-gw-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(JSON.parse(receiver.requests[0]?.body ?? '')).toMatchObject({
    type: 'test',
    text: 'gw: a test of service.alerts.',
  });
});

it('gw alerts test ends with 1 if the receiver refuses, and prints nothing of its address', async () => {
  const { receiver, line, variables } = await start({ status: 302, body: '', headers: { location: '/elsewhere' } });
  const { code, out, error } = await operate(line, { variables });
  expect([code, out]).toEqual([1, '']);
  expect(error).toMatch(/^gw alerts test: test alert [\w-]{12}: status 302$/);
  expect(receiver.requests).toHaveLength(1);
});

it.each([
  ['a receiver that is not set', {}, 'the URL of service.alerts is not set'],
  ['an address of another scheme', { GW_TEST_HOOK: 'ftp://a.example' }, 'no URL of https or http'],
  ['a secret that is not set', { GW_TEST_HOOK: 'http://127.0.0.1:1/' }, 'the secret of service.alerts is not set'],
])('gw alerts test says in one line what is wrong with %s, and sends nothing', async (_what, variables, reason) => {
  const { receiver, line } = await start({ status: 200, body: '' });
  const { code, error } = await operate(line, { variables });
  expect([code, error]).toEqual([1, expect.stringContaining(reason)]);
  expect(receiver.requests).toHaveLength(0);
});

it('gw alerts test says that a gateway without alerts has none', async () => {
  const { line } = await start({ status: 200, body: '' }, {});
  expect((await operate(line)).error).toBe('gw alerts test: the applied gateway file has no service.alerts');
});

it('a start names the variables of alerts that are not set, and starts', async () => {
  const { harness } = await start({ status: 200, body: '' });
  const lines = await describeStart(harness.composition, { url: harness.url, keyTexts: [harness.key] });
  expect(lines.filter((line) => line.includes('alerts'))).toEqual([
    'note: no alerts are sent: GW_TEST_HOOK is not set',
    'note: no alerts are sent: GW_TEST_HOOK_SECRET is not set',
  ]);
});
