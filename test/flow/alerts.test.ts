// Alerts about spending, as the operator's receiver gets them: once for each share and period, whatever the receiver
// does, and without a delay of any call.
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '#jest';
import { createAlerts, sendTestAlert } from '../../shared/accounting/alerts/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { newKey } from '../support/gateway-file.ts';
import { type GatewayOptions, type Harness, hello, type ServedGateway, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { operatorOf } from '../support/operator-requests.ts';
import { completionOf, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { type ScriptedBehaviour, type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { eventually } from '../support/watched-clock.ts';
import { aroundStore } from '../support/wrapped-store.ts';

const urlName = 'GW_TEST_ALERTS_URL';
const secretName = 'GW_TEST_ALERTS_SECRET';
const alerts = { url: { env: urlName }, at: [50, 80, 100] };
const acceptance: ScriptedBehaviour = { status: 200, body: 'ok' };

/**
 * With these prices a call costs as many thousandths of a dollar as it asks for tokens, and reserves the same amount.
 */
const priced = { input_price_per_million: '0', output_price_per_million: '1000' };
const models = Object.fromEntries(
  [100, 300, 600].map((tokens) => [
    `acme/${tokens}`,
    [{ provider: 'acme', upstream: `usage:1:${tokens}`, more: priced }],
  ]),
);

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  delete process.env[urlName];
  delete process.env[secretName];
});

interface Alerted {
  readonly harness: Harness;
  readonly apply: Harness['apply'];
  readonly receiver: ScriptedServer;
  readonly deliveries: () => Record<string, unknown>[];
  /** Makes the calls one after the other; resolves when their alerts were sent. */
  readonly spend: (thousandths: readonly number[], gateway?: ServedGateway) => Promise<void>;
}

async function start(
  parts: Partial<Parameters<typeof startHarness>[0]> = {},
  behaviours: readonly [ScriptedBehaviour, ...ScriptedBehaviour[]] = [acceptance],
): Promise<Alerted> {
  const receiver = await startScriptedServer(behaviours);
  stops.push(() => receiver.stop());
  process.env[urlName] = `${receiver.endpoint}/hook`;
  const harness = await startHarness({ models, service: { alerts }, key: { spend_limit_usd: '1' }, ...parts });
  stops.push(() => harness.stop());
  return {
    harness,
    apply: (parts) => harness.apply(parts),
    receiver,
    deliveries: () => receiver.requests.map(({ body }) => JSON.parse(body)),
    async spend(thousandths, gateway = harness) {
      for (const tokens of thousandths) {
        expect((await call(gateway, tokens)).status).toBe(200);
        await gateway.settled();
      }
    },
  };
}

async function call(gateway: ServedGateway, tokens: number, headers: Record<string, string> = {}): Promise<Response> {
  const response = await gateway.post(hello(`acme/${tokens}`, { max_tokens: tokens }), headers);
  await response.text();
  return response;
}

const percents = (alerts: readonly Record<string, unknown>[]) => alerts.map(({ percent }) => percent);
const marksOf = async ({ keyItem }: Harness) => (await keyItem()).alert;
/**
 * Returns a clock that is ahead of the system's clock. Waits of a try and between tries end at once if `isHurried`
 * returns true.
 */
const laterClock = (shift: () => number, isHurried: (delayMs: number) => boolean = () => false): Clock => ({
  ...systemClock,
  nowMs: () => systemClock.nowMs() + shift(),
  after: (delayMs, callback) => systemClock.after(isHurried(delayMs) ? 0 : delayMs, callback),
});
/** Returns a clock on which no try times out and no second try follows, however slow the machine is. */
const withoutNextTry = (clock: Clock): Clock => ({
  ...clock,
  after: (delayMs, callback) => (delayMs === 10_000 || isPause(delayMs) ? () => {} : clock.after(delayMs, callback)),
});
const isPause = (delayMs: number) => delayMs === 5_000 || delayMs === 20_000;

describe('an alert of a key’s spend limit', () => {
  it('is sent once for each share that a call passes, with these fields, and signed', async () => {
    process.env[secretName] = 'a-secret';
    const { spend, deliveries, receiver } = await start({
      service: { alerts: { ...alerts, secret: { env: secretName } } },
      key: { spend_limit_usd: '1', spend_limit_reset: 'monthly' },
    });
    await spend([300]);
    expect(deliveries()).toEqual([]);
    await spend([300]);
    await eventually(() => deliveries().length === 1);
    await spend([300]);
    await eventually(() => deliveries().length === 2);
    await spend([100]);
    await eventually(() => deliveries().length === 3);
    expect(percents(deliveries())).toEqual([50, 80, 100]);
    const month = `${new Date().toISOString().slice(0, 7)}-01`;
    expect(deliveries()[1]).toEqual({
      text: `gw: workspace team, key first: 80 % of the spend limit of the key is spent: 0.9 of 1 USD since ${month}.`,
      type: 'key_spend_limit',
      workspace: 'team',
      key: 'first',
      provider: null,
      model: null,
      percent: 80,
      spent_usd: '0.9',
      limit_usd: '1',
      period: month,
      id: expect.stringMatching(/^[\w-]{12}$/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(new Set(deliveries().map(({ id }) => id)).size).toBe(3);
    const [first] = receiver.requests;
    expect(first).toMatchObject({ method: 'POST', path: '/hook' });
    expect(first?.headers['content-type']).toBe('application/json');
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(first?.headers['x-gw-signature'])) ?? [];
    expect(createHmac('sha256', 'a-secret').update(`${t}.${first?.body}`).digest('hex')).toBe(v1);
  });

  it('is sent once however many processes pass the share at one moment, and to no one a second time', async () => {
    const { harness, spend, deliveries } = await start({ key: { spend_limit_usd: '2' } });
    const others = [await harness.open(), await harness.open()];
    const gateways = [harness, ...others];
    await Promise.all(gateways.flatMap((gateway) => [call(gateway, 300), call(gateway, 100)]));
    for (const gateway of gateways) await gateway.settled();
    await eventually(async () => deliveries().length >= 1);
    for (const gateway of gateways) await spend([100], gateway);
    for (const { composition } of gateways) await composition.alerts.close();
    expect(percents(deliveries())).toEqual([50]);
  });

  it('begins anew with the next period, and only then', async () => {
    let shiftMs = 0;
    const clock = laterClock(() => shiftMs);
    const { spend, deliveries } = await start({ clock, key: { spend_limit_usd: '1', spend_limit_reset: 'daily' } });
    await spend([600]);
    await eventually(() => deliveries().length === 1);
    shiftMs = 86_400_000;
    await spend([100]);
    expect(deliveries()).toHaveLength(1);
    await spend([600]);
    await eventually(() => deliveries().length === 2);
    expect(percents(deliveries())).toEqual([50, 50]);
    expect(new Set(deliveries().map(({ period }) => period)).size).toBe(2);
  });

  it('is sent for the shares of a raised limit that are above what was alerted, and for no other', async () => {
    const { harness, apply, spend, deliveries } = await start();
    await spend([600, 300]);
    await eventually(() => deliveries().length === 2);
    await apply({ models, service: { alerts }, key: { spend_limit_usd: '1.6' } });
    const raised = await harness.open();
    // Spending since the last alert is less than half of the new limit.
    await spend([300], raised);
    expect(deliveries()).toHaveLength(2);
    await spend([100], raised);
    await eventually(() => deliveries().length === 3);
    expect(deliveries()[2]).toMatchObject({ percent: 80, spent_usd: '1.3', limit_usd: '1.6' });
  });

  it('holds no mention written into the name of a key', async () => {
    const { spend, deliveries } = await start({ key: { name: '<!channel>', spend_limit_usd: '1' } });
    await spend([600]);
    await eventually(() => deliveries().length === 1);
    expect(deliveries()[0]).toMatchObject({ key: '<!channel>', text: expect.not.stringContaining('<') });
  });
});

describe('an alert of a workspace', () => {
  it('is sent for its credit, and again for credit that was added since', async () => {
    const { harness, spend, deliveries } = await start({ key: {}, workspace: { credit_usd: '1' } });
    await spend([600, 300]);
    await eventually(() => deliveries().length === 2);
    expect(deliveries()[1]).toMatchObject({ type: 'workspace_credit', workspace: 'team', key: null, percent: 80 });
    const { composition } = harness;
    const amount = 1_000_000_000_000n;
    await composition.credit.add({ workspace: 'team', amount, id: 'more', nowMs: systemClock.nowMs() });
    await spend([300]);
    expect(deliveries()).toHaveLength(2);
    await spend([300]);
    await eventually(() => deliveries().length === 3);
    // The share is that of the 1.1 USD that were left at the last alert.
    expect(deliveries()[2]).toMatchObject({ percent: 50, spent_usd: '0.6', limit_usd: '1.1' });
  });

  it('is sent for its spend limit, over all shards of its credit', async () => {
    const workspace = { credit_usd: '100', credit_shards: 4, spend_limit_usd: '1' };
    const { spend, deliveries } = await start({ key: {}, workspace });
    await spend([100, 100, 100, 100, 100]);
    await eventually(() => deliveries().length === 1);
    expect(deliveries()[0]).toMatchObject({
      type: 'workspace_spend_limit',
      percent: 50,
      spent_usd: '0.5',
      limit_usd: '1',
    });
  });

  it('is sent for the budget of a connection, naming the provider', async () => {
    process.env.GW_TEST_BYOK = 'byok-key';
    const { spend, deliveries } = await start({
      key: {},
      providers: { acme: { accepts_byok_header: true } },
      workspace: {
        features: { byok: true },
        byok: {
          connections: [{ provider: 'acme', key: { env: 'GW_TEST_BYOK' }, policy: 'always', budget_usd: '1' }],
        },
      },
    });
    await spend([600]);
    await eventually(() => deliveries().length === 1);
    expect(deliveries()[0]).toMatchObject({ type: 'byok_budget', workspace: 'team', provider: 'acme', percent: 50 });
  });
});

describe('an alert of a provider', () => {
  const other = newKey();
  const moreWorkspaces = [{ id: 'other', credit_usd: '100', keys: [{ name: 'second', key: other }] }];
  const asOther = { authorization: `Bearer ${other}` };
  /** Starts a provider that answers each call as `answers` says at that time. */
  async function startProvider() {
    const provider = { status: 200 };
    const answering = await startScriptedProvider((outgoing) => {
      if (provider.status === 200) sendJson(outgoing, completionOf({ content: 'Hi.' }));
      else outgoing.writeHead(provider.status, { 'content-type': 'application/json' }).end('{}');
    });
    stops.push(() => answering.stop());
    let shiftMs = 0;
    const alerted = await start({
      clock: laterClock(() => shiftMs),
      moreWorkspaces,
      models: {
        'scripted/m': [{ provider: 'scripted', upstream: 'm' }],
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
      },
      providers: { scripted: { base_url: answering.url } },
      key: {},
    });
    const second = await alerted.harness.open({ clock: laterClock(() => shiftMs) });
    return {
      ...alerted,
      provider,
      second,
      later: (byMs: number) => {
        shiftMs += byMs;
      },
      async ask(gateway: ServedGateway = alerted.harness, headers: Record<string, string> = {}) {
        const response = await gateway.post(hello('scripted/m'), headers);
        await response.text();
        await gateway.settled();
        return response.status;
      },
    };
  }
  const typesOf = (alerts: readonly Record<string, unknown>[]) => alerts.map(({ type }) => type);

  it.each([
    [401, 'provider_credential_refused'],
    [402, 'provider_credential_empty'],
  ])('is sent once when it answers %s, by whichever process, and once when it is back', async (status, type) => {
    const { harness, second, provider, ask, later, deliveries } = await startProvider();
    provider.status = status;
    await Promise.all([harness, second, harness, second].map((gateway) => ask(gateway)));
    await eventually(() => deliveries().length === 1);
    provider.status = 200;
    later(60_000);
    for (const gateway of [second, harness, second]) expect(await ask(gateway)).toBe(200);
    await eventually(() => deliveries().length === 2);
    for (const { composition } of [harness, second]) await composition.alerts.close();
    expect(typesOf(deliveries())).toEqual([type, 'provider_back']);
    expect(deliveries()[0]).toMatchObject({
      provider: 'scripted',
      model: 'scripted/m',
      workspace: null,
      percent: null,
    });
  });

  it('is sent when calls of two workspaces fail, and not for those of one', async () => {
    const { harness, provider, ask, deliveries } = await startProvider();
    provider.status = 500;
    for (let n = 0; n < 3; n += 1) await ask();
    expect(deliveries()).toEqual([]);
    await ask(harness, asOther);
    await eventually(() => deliveries().length === 1);
    await ask(harness, asOther);
    await harness.composition.alerts.close();
    expect(typesOf(deliveries())).toEqual(['provider_failing']);
  });

  it('that comes and goes is sent again after five minutes, and not before', async () => {
    const { harness, provider, ask, later, deliveries } = await startProvider();
    const set = async (status: number) => {
      later(60_000);
      provider.status = status;
      await ask();
    };
    await set(401);
    await eventually(() => deliveries().length === 1);
    await set(200);
    await eventually(() => deliveries().length === 2);
    await set(401);
    later(240_000);
    await set(401);
    await eventually(() => deliveries().length === 3);
    await harness.composition.alerts.close();
    expect(typesOf(deliveries())).toEqual([
      'provider_credential_refused',
      'provider_back',
      'provider_credential_refused',
    ]);
  });

  it('is back by a call of any process, also of one that was not the last to report its failure', async () => {
    const { harness, second, provider, ask, later, deliveries } = await startProvider();
    const turns = [
      [401, harness],
      [200, harness],
      [401, second],
      [200, harness],
    ] as const;
    for (const [at, [status, gateway]] of turns.entries()) {
      later(360_000);
      provider.status = status;
      await ask(gateway);
      await eventually(() => deliveries().length === at + 1);
    }
    const refusalType = 'provider_credential_refused';
    expect(typesOf(deliveries())).toEqual([refusalType, 'provider_back', refusalType, 'provider_back']);
  });

  it('is sent for no key that a client brought', async () => {
    const { harness, deliveries } = await start({
      providers: { acme: { accepts_byok_header: true } },
      models: { 'acme/refusing': [{ provider: 'acme', upstream: 'error-401' }] },
      workspace: { features: { byok: true } },
      key: {},
    });
    const body = hello('acme/refusing', { provider: { only: 'acme' } });
    const response = await harness.post(body, { 'x-byok-key': 'wrong' });
    expect(response.status).toBeGreaterThanOrEqual(400);
    await response.text();
    expect(harness.simulator.calls.map(({ status }) => status)).toEqual([401]);
    await harness.settled();
    await harness.composition.alerts.close();
    expect(deliveries()).toEqual([]);
  });
});

/** The lines of this log are among the lines of the harness. */
const withLoggedAlerts: GatewayOptions['replace'] = ({ store, clock, randomness, log, credit, cooldowns }) => ({
  alerts: createAlerts({
    ...{ store, clock, randomness, log, credit, cooldowns },
    isFunction: false,
    persist: async (write) => void (await write()),
  }),
});

describe('a receiver that does not take an alert', () => {
  it('is asked three times in all by a process that lives, with one id, and the mark says so', async () => {
    const clock = laterClock(() => 0, isPause);
    const options = { clock, replace: withLoggedAlerts };
    const { harness, spend, deliveries } = await start(options, [{ status: 500, body: 'no' }]);
    await spend([600]);
    await eventually(() => deliveries().length === 3);
    expect(new Set(deliveries().map(({ id }) => id)).size).toBe(1);
    await harness.composition.alerts.close();
    const next = await harness.open();
    await spend([100], next);
    await next.composition.alerts.close();
    expect(deliveries()).toHaveLength(3);
    expect(await marksOf(harness)).toMatchObject({ percent: 50, tries: 3 });
    expect(harness.logLines.join()).not.toContain('/hook');
    // A try that another try follows is no failed control yet.
    const failed = harness.logLines.filter((line) => line.includes('"alert_failed"'));
    expect(failed.map((line) => line.includes('"failed_control":"alert"'))).toEqual([false, false, true]);
  });

  it('has it by the second try, and is left alone then', async () => {
    const clock = laterClock(() => 0, isPause);
    const { harness, spend, deliveries } = await start({ clock }, [{ status: 503, body: 'later' }, acceptance]);
    await spend([600]);
    await eventually(() => deliveries().length === 2);
    await eventually(async () => !Object.hasOwn((await marksOf(harness)) as object, 'tries'));
    await spend([100]);
    await harness.composition.alerts.close();
    expect(deliveries()).toHaveLength(2);
  });

  it('is asked again by another process’s next call if the first one stopped between its tries', async () => {
    // Only the test moves this time.
    let nowMs = systemClock.nowMs();
    const clock = { ...withoutNextTry(systemClock), nowMs: () => nowMs };
    const parts = { clock, key: { spend_limit_usd: '1.2' } };
    const { harness, spend, deliveries } = await start(parts, [{ status: 500, body: 'no' }, acceptance]);
    await spend([600]);
    await eventually(() => deliveries().length === 1);
    await harness.composition.alerts.close();
    const next = await harness.open({ clock });
    await spend([100], next);
    expect(deliveries()).toHaveLength(1);
    nowMs += 15_000;
    await spend([100], next);
    await eventually(() => deliveries().length === 2);
    expect(deliveries()[1]).toEqual(deliveries()[0]);
  });

  it('redirects: the alert goes nowhere else, and is not taken', async () => {
    const elsewhere = await startScriptedServer([acceptance]);
    stops.push(() => elsewhere.stop());
    const clock = laterClock(() => 0, isPause);
    const headers = { location: elsewhere.endpoint };
    const { spend, deliveries } = await start({ clock }, [{ status: 307, body: '', headers }]);
    await spend([600]);
    await eventually(() => deliveries().length === 3);
    expect(elsewhere.requests).toHaveLength(0);
  });

  it('hangs: calls are answered and settled meanwhile, and a stop does not wait for it', async () => {
    const { harness, spend, deliveries } = await start({ clock: withoutNextTry(systemClock) }, ['silent']);
    await spend([600]);
    await eventually(() => deliveries().length === 1);
    await spend([100]);
    expect(deliveries()).toHaveLength(1);
    // An alert of a further share does not wait for the alert before it.
    await spend([100]);
    await eventually(() => deliveries().length === 2);
    expect(await harness.records()).toHaveLength(3);
    await harness.composition.alerts.close();
    // Without an answer the alert may have arrived, so its mark stays.
    expect(await marksOf(harness)).toMatchObject({ percent: 80, tries: 1 });
  });

  it('is not there: a variable that is not set, or is no URL, costs a log line and no mark', async () => {
    const { harness, spend, deliveries } = await start({ replace: withLoggedAlerts });
    const url = String(process.env[urlName]);
    delete process.env[urlName];
    await spend([600, 100]);
    process.env[urlName] = 'ftp://canary.example';
    await spend([100]);
    expect(await marksOf(harness)).toBeUndefined();
    const logLines = harness.logLines.filter((line) => line.includes('alerts_not_sent'));
    expect(logLines).toHaveLength(1);
    expect(logLines[0]).toContain('is not set');
    expect(logLines[0]).toContain('"failed_control":"alert"');
    process.env[urlName] = url;
    await spend([100]);
    await eventually(() => deliveries().length === 1);
    expect(deliveries()[0]).toMatchObject({ percent: 80 });
  });
});

/** Returns more keys for the workspace, each with its own limit. */
const keysNamed = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `key-${at}`, key: newKey() }));
const withKeys = (
  keys: readonly { readonly name: string; readonly key: string }[],
  more: Record<string, unknown> = {},
) => ({
  service: { alerts },
  workspace: { credit_usd: '1000', keys: keys.map((one) => ({ ...one, spend_limit_usd: '1.2' })) },
  ...more,
});
const as = (key = '') => ({ authorization: `Bearer ${key}` });

it('an alert is one of at most a hundred that a process has under way: the next is not marked, and stays due', async () => {
  const keys = keysNamed(101);
  const parts = withKeys(keys, { clock: withoutNextTry(systemClock) });
  const { harness, deliveries } = await start(parts, ['silent']);
  const isMarked = async (at: number) => (await harness.keyItem(keys[at]?.key)).alert !== undefined;
  for (const { key } of keys) {
    expect((await call(harness, 600, as(key))).status).toBe(200);
    await harness.settled();
  }
  await eventually(() => deliveries().length === 100);
  expect(new Set(deliveries().map(({ key }) => key))).toEqual(new Set(keys.slice(0, 100).map(({ name }) => name)));
  expect([await isMarked(99), await isMarked(100)]).toEqual([true, false]);
  const next = await harness.open({ clock: withoutNextTry(systemClock) });
  await call(next, 100, as(keys[100]?.key));
  await next.settled();
  await eventually(() => deliveries().length === 101);
  expect(deliveries()[100]).toMatchObject({ key: 'key-100', percent: 50 });
});

describe('alerts that are in flight when their process stops', () => {
  const keys = keysNamed(2);
  const isWaitOfStop = (delayMs: number) => delayMs === 1_500;
  const spendOfEach = async (gateway: ServedGateway, tokens: number) => {
    for (const { key } of keys) expect((await call(gateway, tokens, as(key))).status).toBe(200);
    await gateway.settled();
  };
  const marks = ({ keyItem }: Harness) => Promise.all(keys.map(async ({ key }) => (await keyItem(key)).alert));
  const delivered = (mark: unknown) =>
    (mark as { percent?: number }).percent === 50 && !Object.hasOwn(mark as object, 'tries');
  const idsOf = (alerts: readonly Record<string, unknown>[]) => alerts.map(({ id }) => id).toSorted();

  it('are delivered if the receiver answers, and no other process sends them again', async () => {
    // Only the receiver's answers end the wait.
    const clock: Clock = {
      ...withoutNextTry(systemClock),
      after: (delayMs, callback) =>
        isWaitOfStop(delayMs) ? () => {} : withoutNextTry(systemClock).after(delayMs, callback),
    };
    const { harness } = await start(withKeys(keys, { clock }));
    const openResponses: ServerResponse[] = [];
    const receiver = await startScriptedProvider((outgoing) => openResponses.push(outgoing));
    stops.push(() => receiver.stop());
    process.env[urlName] = receiver.url;
    await spendOfEach(harness, 600);
    await eventually(() => openResponses.length === 2);
    const stopped = harness.composition.alerts.close();
    for (const outgoing of openResponses) outgoing.end('ok');
    await stopped;
    expect((await marks(harness)).map(delivered)).toEqual([true, true]);
    const next = await harness.open({ clock });
    await spendOfEach(next, 100);
    await next.composition.alerts.close();
    expect(receiver.bodies).toHaveLength(2);
  });

  it('are sent by the next process’s next calls if it does not, with their ids', async () => {
    let nowMs = systemClock.nowMs();
    const clock: Clock = {
      nowMs: () => nowMs,
      after: (delayMs, callback) => withoutNextTry(systemClock).after(isWaitOfStop(delayMs) ? 0 : delayMs, callback),
    };
    const { harness, deliveries } = await start(withKeys(keys, { clock }), ['silent', 'silent', acceptance]);
    await spendOfEach(harness, 600);
    await eventually(() => deliveries().length === 2);
    await harness.composition.alerts.close();
    expect(await marks(harness)).toMatchObject([{ tries: 1 }, { tries: 1 }]);
    const next = await harness.open({ clock });
    await spendOfEach(next, 100);
    expect(deliveries()).toHaveLength(2);
    nowMs += 15_000;
    await spendOfEach(next, 100);
    await eventually(() => deliveries().length === 4);
    expect(idsOf(deliveries().slice(2))).toEqual(idsOf(deliveries().slice(0, 2)));
    await next.composition.alerts.close();
    expect(deliveries()).toHaveLength(4);
    expect((await marks(harness)).map(delivered)).toEqual([true, true]);
  });
});

it('a call that passes no share writes no more with alerts than without', async () => {
  // Alerts write to these tables; statistics are written by the time.
  const tables = ['keys', 'ledger', 'limits'];
  const writesOf = async (service: Record<string, unknown>) => {
    let writes = 0;
    const { harness } = await start({ service, key: { spend_limit_usd: '100', rpm: 1_000 } });
    const wrapStore: GatewayOptions['wrapStore'] = (store) =>
      aroundStore(store, ({ method, table }, run) => {
        if (method !== 'get' && tables.includes(table)) writes += 1;
        return run();
      });
    const gateway = await harness.open({ wrapStore });
    for (let n = 0; n < 5; n += 1) {
      await call(gateway, 100);
      await gateway.settled();
    }
    expect(writes).toBeGreaterThan(0);
    return writes;
  };
  expect(await writesOf({ alerts })).toBe(await writesOf({}));
});

it('alerts belong to the gateway file: a file with alerts replaces them, one without keeps them, null ends them', async () => {
  const { harness, apply, spend, deliveries } = await start();
  await apply({ models, key: { spend_limit_usd: '1' } });
  expect((await harness.composition.catalogue.current()).service.alerts).toEqual(alerts);
  await apply({ models, service: { alerts: null }, key: { spend_limit_usd: '1' } });
  const without = await harness.open();
  await spend([600], without);
  await without.composition.alerts.close();
  expect(deliveries()).toEqual([]);
});

it('operators see the last alert of a key, of a workspace’s credit and limit, and of a provider, and whether it was delivered', async () => {
  let shiftMs = 0;
  const { harness, spend, deliveries } = await start(
    {
      clock: withoutNextTry(laterClock(() => shiftMs)),
      models: { ...models, 'refusing/m': [{ provider: 'refusing', upstream: 'error-401' }] },
      workspace: { credit_usd: '1', spend_limit_usd: '2' },
    },
    [acceptance, { status: 500, body: 'no' }],
  );
  const ada = await operatorOf(harness, 'ada');
  const shownItem = async (path: string, id: string) =>
    (await ada.get(path)).body.data.find((one: Record<string, unknown>) => one.id === id || one.name === id);
  expect(await shownItem('/keys', 'first')).toMatchObject({ last_alert: null });
  expect(await shownItem('/providers', 'refusing')).toMatchObject({ last_alert: null });
  await spend([600]);
  await eventually(() => deliveries().length === 2);
  await (await harness.post(hello('refusing/m'))).text();
  await harness.settled();
  await eventually(() => deliveries().length === 3);
  await harness.composition.alerts.close();
  // States of providers are read every five seconds.
  shiftMs = 5_000;
  const shownAlerts = async (): Promise<Record<string, unknown>[]> => [
    (await shownItem('/keys', 'first')).last_alert,
    (await shownItem('/workspaces', 'team')).last_credit_alert,
  ];
  // The mark of a delivery is written after the delivery.
  await eventually(async () => (await shownAlerts()).some(({ is_delivered }) => is_delivered === true));
  const alerted = await shownAlerts();
  expect(alerted.map(({ percent }) => percent)).toEqual([50, 50]);
  // The receiver accepted one of the two alerts.
  expect(alerted.map(({ is_delivered }) => is_delivered).toSorted()).toEqual([false, true]);
  expect(await shownItem('/workspaces', 'team')).toMatchObject({ last_limit_alert: null });
  expect(await shownItem('/providers', 'refusing')).toMatchObject({
    last_alert: { state: 'refused', model: 'refusing/m', is_delivered: false },
  });
});

it('operators see the latest alert of a provider with several credentials', async () => {
  const names = ['GW_TEST_ALERTS_ONE', 'GW_TEST_ALERTS_TWO'];
  for (const name of names) process.env[name] = `secret of ${name}`;
  const credentials = names.map((env) => ({ env }));
  let shiftMs = 0;
  const { harness, deliveries } = await start({
    clock: withoutNextTry(laterClock(() => shiftMs)),
    models: { 'pool/m': [{ provider: 'pool', upstream: 'error-401' }] },
    providers: { pool: { auth: { bearer: credentials[0] }, credentials } },
  });
  const ada = await operatorOf(harness, 'ada');
  const shownAlerts = async () =>
    (await ada.get('/providers')).body.data.find(({ id }: { readonly id: string }) => id === 'pool');
  expect(await shownAlerts()).toMatchObject({ last_alert: null });
  await (await harness.post(hello('pool/m'))).text();
  await harness.settled();
  await eventually(() => deliveries().length === 2);
  // States of providers are read every five seconds.
  shiftMs = 5_000;
  const { last_alert: last } = await shownAlerts();
  expect(last).toMatchObject({ state: 'refused', model: 'pool/m' });
  expect(last.at).toBe(
    deliveries()
      .map(({ at }) => at)
      .toSorted()
      .at(-1),
  );
  for (const name of names) delete process.env[name];
});

describe('one try', () => {
  const send = (receiver: ScriptedServer, clock: Clock = systemClock) =>
    sendTestAlert({ url: receiver.endpoint, secret: null }, { clock, randomness: systemRandomness });

  it('is given up after ten seconds without an answer, however late that comes', async () => {
    const clock = manualClock();
    const receiver = await startScriptedServer(['silent']);
    stops.push(() => receiver.stop());
    const testAlert = send(receiver, clock);
    await receiver.firstRequest;
    clock.advance(10_000);
    expect(await testAlert).toMatchObject({ status: null, fault: 'no answer within 10000 ms' });
  });

  it('reads no more than 64 KB of an answer, and has delivered the alert by its status', async () => {
    const receiver = await startScriptedServer([{ status: 200, body: 'x'.repeat(1_000_000) }]);
    stops.push(() => receiver.stop());
    expect(await send(receiver)).toMatchObject({ status: 200, fault: null });
  });

  it('fails if nothing listens, and its fault names no address', async () => {
    const receiver = await startScriptedServer([acceptance]);
    await receiver.stop();
    expect(await send(receiver)).toMatchObject({ status: null, fault: 'no connection' });
  });
});
