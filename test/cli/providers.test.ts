// An operator takes providers out of a running gateway and sees the effect of each command. The lines run as they are
// typed, and a gateway behind HTTP uses the same store.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { configFreshMs } from '../../shared/foundation/constants/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { expectError } from '../support/expect-error.ts';
import { type FileParts, gatewayFileText, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTestStore } from '../support/test-store.ts';
import { operate } from './operator.ts';

const unset = 'GW_TEST_UNSET_KEY';
const parts: FileParts = {
  models: {
    'acme/two': [
      { provider: 'acme', upstream: 'echo' },
      { provider: 'globex', upstream: 'echo' },
    ],
    'acme/one': [{ provider: 'acme', upstream: 'echo' }],
    'acme/lacking': [
      { provider: 'initech', upstream: 'echo' },
      { provider: 'globex', upstream: 'echo' },
    ],
    'acme/limited': [{ provider: 'globex', upstream: 'error-429' }],
    'acme/refusing': [{ provider: 'globex', upstream: 'error-401' }],
    'acme/unpaid': [{ provider: 'globex', upstream: 'error-402' }],
    'acme/failing': [{ provider: 'globex', upstream: 'error-500' }],
  },
  providers: {
    initech: { auth: { header: { name: 'x-api-key', env: unset } }, apis: ['chat-completions', 'messages'] },
    acme: { accepts_byok_header: true },
  },
  workspace: { features: { byok: true }, functions: [promptFunction('label', 'acme/one')] },
};

let gateway: Harness;
let folder: string;
let data: string;
let aheadMs = 0;
const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
beforeAll(async () => {
  folder = temporaryFolder();
  data = join(folder, 'data');
  gateway = await startHarness({ testStore: await startTestStore(data), clock, ...parts });
});
afterAll(async () => {
  await gateway.stop();
});
afterEach(async () => {
  await apply({ acme: { status: 'enabled' } });
  pass(configFreshMs);
});

/** Moves the clock ahead, so that the configuration that instances have cached is out of date. */
const pass = (durationMs: number) => {
  aheadMs += durationMs;
};

const gw = (line: string, more: { readonly answers?: readonly string[] } = {}) =>
  operate(`${line} --data ${data}`, { clock, ...more });
const gwJson = async <Document>(line: string) => JSON.parse((await gw(`${line} --json`)).out) as Document;

/** Applies the file with other fields of its providers. */
function apply(providers: Record<string, object> = {}, options = '--yes') {
  const path = join(folder, 'gateway.yaml');
  const more = Object.entries(providers).map(([id, members]) => [id, { ...parts.providers?.[id], ...members }]);
  const file = { ...parts, providers: { ...parts.providers, ...Object.fromEntries(more) } };
  writeFileSync(path, gatewayFileText(file, gateway.simulator.urlOf, gateway.key));
  return gw(`apply -f ${path} ${options}`);
}

interface Providers {
  readonly providers: readonly { readonly provider: string; readonly status: string; readonly credential: string }[];
}

const statusOf = async (id: string) =>
  (await gwJson<Providers>('providers list')).providers.find(({ provider }) => provider === id)?.status;

const providerOf = async (model: string, more: Record<string, unknown> = {}, headers = {}) => {
  const response = await gateway.post(hello(model, more), headers);
  return response.headers.get('x-gw-provider') ?? ((await response.json()) as { error: string }).error;
};

interface Listed {
  readonly data: readonly {
    readonly id: string;
    readonly routable: boolean;
    readonly providers?: readonly { readonly provider: string; readonly routable: boolean }[];
  }[];
}

const routable = async (model: string) => {
  const { data } = (await (await gateway.get('/models')).json()) as Listed;
  const listing = data.find(({ id }) => id === model);
  return {
    model: listing?.routable,
    ...Object.fromEntries(listing?.providers?.map((p) => [p.provider, p.routable]) ?? []),
  };
};

describe('a disabled provider', () => {
  it('gets no call from a running gateway after five seconds, whatever a client asks for, and all of them once enabled', async () => {
    expect(await providerOf('acme/two')).toBe('acme');
    expect(await gw('providers disable acme')).toMatchObject({
      code: 0,
      out: 'provider acme is disabled, in every gateway within 5 s\nmodels without a provider now: acme/one',
    });
    pass(configFreshMs);
    gateway.simulator.clear();
    expect(await providerOf('acme/two')).toBe('globex');
    expect(await providerOf('acme/two', { provider: { order: ['acme'] } })).toBe('globex');
    expect(await providerOf('acme/two', { provider: { only: ['acme'] } })).toBe('model_not_routable');
    const byok = { 'x-byok-key': 'the-key-of-the-client' };
    expect(await providerOf('acme/two', { provider: { only: ['acme'] } }, byok)).toBe('model_not_routable');
    const refusal = await gateway.post(hello('acme/one'));
    const { message } = await expectError(refusal, 400, 'model_not_routable');
    expect(message).toContain('the operator of this gateway has disabled acme');
    expect((await gateway.post(hello('gw/function/label'))).status).toBe(502);
    expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual(['globex', 'globex']);
    expect(await routable('acme/two')).toEqual({ model: true, acme: false, globex: true });
    expect(await routable('acme/one')).toEqual({ model: false, acme: false });

    expect((await gw('providers enable acme')).out).toBe('provider acme is enabled, in every gateway within 5 s');
    pass(configFreshMs);
    expect(await providerOf('acme/two')).toBe('acme');
    expect(await routable('acme/one')).toEqual({ model: true, acme: true });
  });

  it('stays disabled by later applies that do not say its status, also in an exported file, and follows those that do', async () => {
    await gw('providers disable acme');
    expect((await apply({ acme: { display_name: 'Another name' } })).out).toContain('1 changed');
    expect(await statusOf('acme')).toBe('disabled');
    const { out } = await gw('export');
    expect(out).toMatch(/- id: acme\n(?: {4}.*\n)*? {4}status: disabled\n/);
    expect(out.match(/status: (?:en|dis)abled\n/g)?.length).toBe(2);

    const enabling = await apply({ acme: { status: 'enabled', display_name: 'Another name' } }, '--dry-run');
    expect(enabling.out).toContain('providers[acme].status: "disabled" → "enabled"');
    expect(await statusOf('acme')).toBe('disabled');
    await apply({ acme: { status: 'enabled' } });
    expect(await statusOf('acme')).toBe('enabled');
    // A file that disables a provider counts as a removal.
    const disabling = await apply({ acme: { status: 'disabled' } }, '');
    expect([disabling.code, disabling.error]).toEqual([
      2,
      expect.stringContaining('providers[acme].status of catalogue is disabled'),
    ]);
    expect(await statusOf('acme')).toBe('enabled');
  });

  it('is disabled once, by its id, and a person is asked if a model would be left without a provider', async () => {
    expect((await gw('providers disable acmee')).error).toBe(
      'gw providers disable: there is no provider acmee; did you mean acme?',
    );
    const declined = await gw('providers disable acme', { answers: ['n'] });
    expect([declined.code, declined.questions]).toEqual([
      1,
      ['Leave acme/one without a provider by disabling acme? [y/N] '],
    ]);
    expect(await statusOf('acme')).toBe('enabled');
    await gw('providers disable acme --yes');
    expect((await gw('providers disable acme')).out).toBe('provider acme was disabled before');
    const { providers } = await gwJson<Providers>('providers list');
    expect(providers).toMatchObject([
      {
        provider: 'acme',
        status: 'disabled',
        apis: ['chat-completions'],
        credential: 'not needed',
        models: ['acme/two', 'acme/one'],
      },
      { provider: 'globex', status: 'enabled' },
      { provider: 'initech', apis: ['chat-completions', 'messages'], credential: 'missing', credential_name: unset },
    ]);
    expect((await gw('providers list')).out).toMatch(/^initech .*chat-completions, messages/m);
  });

  it('is disabled for good if an apply and the command run at the same time', async () => {
    const applyResults = ['1', '2', '3'].map((name) => apply({ globex: { display_name: name } }));
    await Promise.all([...applyResults, gw('providers disable acme')]);
    expect(await statusOf('acme')).toBe('disabled');
  });
});

describe('a provider whose variable is not set', () => {
  it('is named by every apply and dry run, with what to do', async () => {
    const warning = `warning: provider initech has no credential, no call goes there: ${unset} is not set here: set it where the gateway is started`;
    expect((await apply({}, '--dry-run')).out.split('\n')).toContain(warning);
    expect((await apply()).out.split('\n')).toContain(warning);
    const path = join(folder, 'gateway.yaml');
    const line = `apply -f ${path} --data ${data}`;
    expect((await operate(line, { variables: { [unset]: 'the-key' } })).out).not.toContain('warning');
    expect((await apply({ initech: { status: 'disabled' } })).out).not.toContain('warning');
    await apply({ initech: { status: 'enabled' } });
  });
});

describe('status', () => {
  it('tells what each provider of each model does, in one word', async () => {
    for (const name of ['lacking', 'limited', 'refusing', 'unpaid', 'failing', 'two']) await providerOf(`acme/${name}`);
    await gateway.settled();
    await gw('providers disable acme');
    // The statistics are older than the age at which they are counted anew.
    pass(90_000);
    interface Status {
      readonly providers: readonly { readonly model: string; readonly provider: string; readonly state: string }[];
      readonly notes: readonly string[];
    }
    const { providers, notes } = await gwJson<Status>('status');
    expect(providers.map(({ model, provider, state }) => `${model} ${provider}: ${state}`)).toEqual([
      'acme/two acme: disabled',
      'acme/two globex: serving',
      'acme/one acme: disabled',
      'acme/lacking initech: no credential',
      'acme/lacking globex: serving',
      'acme/limited globex: limited',
      'acme/refusing globex: refusing',
      'acme/unpaid globex: refusing',
      'acme/failing globex: failing',
    ]);
    expect(notes).toEqual([expect.stringContaining(`provider initech has no credential: ${unset} is not set`)]);
    expect((await gw('status')).out).toMatch(/^acme\/lacking +initech +no credential +no /m);
  });
});
