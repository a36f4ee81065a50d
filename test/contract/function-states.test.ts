// States of functions and revisions as a client sees them. The tests move the clock by hand.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { configFreshMs, functionBodyMaxBytes } from '../../shared/foundation/constants/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, modelsFor, prompt, revision, withoutIds } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

const lifeMs = 3_600_000;
const uuid = '3f0f7a52-56f2-4c31-8a5c-0d0a8a3c6f10';
const byokVariable = 'GW_TEST_FUNCTION_BYOK_KEY';
const otherKeys = { limited: newKey(), poor: newKey(), capped: newKey(), allowed: newKey(), off: newKey() };
const unpriced = { input_price_per_million: '0', output_price_per_million: '0' };
const says = (text: string) => ({ messages: [{ role: 'user', content: `${text}: {{input}}` }] });

const connectionOf = (policy: string) => ({ connections: [{ provider: 'acme', key: { env: byokVariable }, policy }] });
const workspaceOf = (key: keyof typeof otherKeys, ofKey: object, more: object = {}) => ({
  id: `of-${key}`,
  credit_usd: '10',
  keys: [{ name: key, key: otherKeys[key], ...ofKey }],
  functions: [prompt('shared'), prompt('free', { model: 'acme/free' })],
  ...more,
});

describe('a function', () => {
  let clock: ManualClock;
  let gateway: Harness;
  const otherKey = newKey();

  beforeAll(async () => {
    process.env[byokVariable] = 'sk-key-of-the-client';
    clock = manualClock();
    const expires_at = new Date(clock.nowMs() + lifeMs).toISOString();
    const versions = [
      revision({ id: 'old', ...says('old') }),
      revision({ id: 'new', ...says('new') }),
      revision({ id: 'draft', state: 'draft', ...says('draft') }),
    ];
    gateway = await startHarness({
      clock,
      models: {
        ...modelsFor(['echo']),
        'acme/free': [{ provider: 'acme', upstream: 'echo', more: unpriced }],
      },
      workspace: {
        functions: [
          prompt('versions', {}, { active: 'new', revisions: versions }),
          prompt('idle', {}, { active: null, revisions: versions }),
          prompt('fresh', {}, { active: null, revisions: [revision({ id: 'draft', state: 'draft' })] }),
          prompt('empty', {}, { active: null, revisions: [] }),
          prompt('off', {}, { active: 'new', revisions: versions, status: 'disabled' }),
          prompt(
            'mortal',
            {},
            { active: 'm2', revisions: [revision({ id: 'm1' }), revision({ id: 'm2', expires_at })] },
          ),
          prompt('shared', says('of the first team')),
          prompt('free', { model: 'acme/free' }),
        ],
      },
      moreWorkspaces: [
        {
          id: 'other',
          credit_usd: '1',
          keys: [{ name: 'other', key: otherKey }],
          functions: [prompt('theirs'), prompt('shared', says('of the other team'))],
        },
        workspaceOf('limited', { spend_limit_usd: '0.000001' }),
        workspaceOf('poor', {}, { credit_usd: '0.000001' }),
        workspaceOf('capped', {}, { spend_limit_usd: '0.000001' }),
        workspaceOf('allowed', {}, { byok: connectionOf('allowed'), features: { byok: true } }),
        workspaceOf('off', {}, { byok: connectionOf('always') }),
      ],
    });
  });
  afterAll(async () => {
    delete process.env[byokVariable];
    await gateway.stop();
  });
  beforeEach(() => gateway.simulator.clear());

  const call = (alias: string, headers: Record<string, string> = {}) => gateway.post(ask(alias), headers);
  const servedBy = async (alias: string) => {
    const { gw, content } = await answerOf(await call(alias));
    return [gw.function_id, gw.revision_id, /wrote “([^:”]*)/.exec(content)?.[1]];
  };
  async function refusedAs(answer: Promise<Response>, status: number, code: string): Promise<string> {
    const { message } = await expectError(await answer, status, code);
    expect(gateway.simulator.calls).toEqual([]);
    return message;
  }
  const expectRefusal = async (alias: string, status: number, code: string): Promise<void> => {
    await refusedAs(call(alias), status, code);
  };

  it('runs its active revision, and a former one by pin', async () => {
    expect(await servedBy('versions')).toEqual(['versions', 'new', 'new']);
    expect(await servedBy('versions@new')).toEqual(['versions', 'new', 'new']);
    expect(await servedBy('versions@old')).toEqual(['versions', 'old', 'old']);
  });

  it('without an active revision runs by pin only', async () => {
    await expectRefusal('idle', 404, 'revision_not_available');
    expect(await servedBy('idle@old')).toEqual(['idle', 'old', 'old']);
  });

  it.each(['fresh', 'empty', 'fresh@draft', 'versions@draft', 'versions@none', 'empty@r1'])(
    'has no revision that was never activated, nor one that does not exist: %s',
    (alias) => expectRefusal(alias, 404, 'revision_not_available'),
  );

  it.each(['off', 'off@old', 'off@draft', 'off@none'])('that is disabled runs nothing, pinned or not: %s', (alias) =>
    expectRefusal(alias, 409, 'function_disabled'),
  );

  it('that is not there, or belongs to another workspace, is not found: both look the same to the byte, as a draft and no revision do', async () => {
    await expectRefusal('nobody', 404, 'function_not_found');
    await expectRefusal('theirs', 404, 'function_not_found');
    await expectRefusal('theirs@r1', 404, 'function_not_found');
    expect(await withoutIds(await call('versions@draft'))).toEqual(await withoutIds(await call('versions@none')));
    expect(await withoutIds(await call('theirs'))).toEqual(await withoutIds(await call('nobody')));
    expect(await withoutIds(await call('theirs@r1'))).toEqual(await withoutIds(await call('nobody@r1')));
  });

  it('belongs to the workspace of the key, whichever other has one of the same name', async () => {
    expect(await servedBy('shared')).toEqual(['shared', 'r1', 'of the first team']);
    const theirs = { authorization: `Bearer ${otherKey}` };
    expect((await answerOf(await call('shared', theirs))).content).toContain('of the other team: Hello');
    expect((await answerOf(await call('theirs', theirs))).gw.function_id).toBe('theirs');
  });

  it('is disabled, enabled, and enabled by the activation of a revision, for every instance within seconds', async () => {
    const { functionStore } = gateway.composition;
    const becomeFresh = () => clock.advance(configFreshMs);
    expect(await servedBy('versions')).toEqual(['versions', 'new', 'new']);
    await functionStore.disable('team', 'versions');
    becomeFresh();
    await expectError(await call('versions@old'), 409, 'function_disabled');
    await functionStore.enable('team', 'versions');
    becomeFresh();
    expect(await servedBy('versions')).toEqual(['versions', 'new', 'new']);
    await functionStore.disable('team', 'versions');
    await functionStore.activate('team', 'versions', 'draft', clock.nowMs());
    becomeFresh();
    expect(await servedBy('versions')).toEqual(['versions', 'draft', 'draft']);
    expect(await servedBy('versions@new')).toEqual(['versions', 'new', 'new']);
  });

  it('that was refused runs from the first call after its enabling or activation, in an instance that refused it just now', async () => {
    const { functionStore } = gateway.composition;
    await functionStore.disable('team', 'versions');
    clock.advance(configFreshMs);
    await expectError(await call('versions'), 409, 'function_disabled');
    await functionStore.enable('team', 'versions');
    expect((await servedBy('versions'))[0]).toBe('versions');
    await expectError(await call('idle'), 404, 'revision_not_available');
    await functionStore.activate('team', 'idle', 'new', clock.nowMs());
    expect(await servedBy('idle')).toEqual(['idle', 'new', 'new']);
  });

  it('whose revision expires runs it up to that millisecond, and not from then on, pinned or not', async () => {
    const leftMs = 1_800_000_000_000 + lifeMs - clock.nowMs();
    clock.advance(leftMs - 1);
    expect((await servedBy('mortal')).slice(0, 2)).toEqual(['mortal', 'm2']);
    clock.advance(1);
    gateway.simulator.clear();
    await expectRefusal('mortal', 409, 'qualification_expired');
    await expectRefusal('mortal@m2', 409, 'qualification_expired');
    expect((await servedBy('mortal@m1')).slice(0, 2)).toEqual(['mortal', 'm1']);
  });

  it.each([
    'gw/',
    'gw/function',
    'gw/function/',
    'gw/functions/echo',
    'gw/model/echo',
    'gw/function/echo@',
    'gw/function/@r1',
    'gw/function/echo@r1@r1',
    'gw/function/echo/r1',
    'gw/function/echo r1',
    ' gw/function/echo'.trimStart().concat(' '),
    'gw/function/écho',
    `gw/function/${'e'.repeat(65)}`,
    `gw/function/echo@${'r'.repeat(65)}`,
    'gw/function/../echo',
  ])('whose model is neither form of an alias is invalid_function_alias: %s', async (model) => {
    await refusedAs(gateway.post({ ...ask('shared'), model }), 400, 'invalid_function_alias');
  });

  it.each(['order-17', uuid.replaceAll('-', ''), `{${uuid}}`, `urn:uuid:${uuid}`, `${uuid}0`, uuid.replace('f', 'g')])(
    'whose Idempotency-Key is no UUID is invalid_function_alias: %s',
    async (key) => {
      await refusedAs(gateway.post(ask('shared'), { 'idempotency-key': key }), 400, 'invalid_function_alias');
    },
  );

  it.each([uuid, uuid.toUpperCase().replace('F', 'E'), '018f3b1e-7c1a-7d0a-9e0b-6c7a5d3b2a19'])(
    'takes a UUID of any version and case: %s',
    async (key) => {
      await answerOf(await gateway.post(ask('free', key), { 'idempotency-key': key }));
    },
  );

  it.each(['x', 'é', '😀'])('of 256 KiB passes, and of a byte more is request_too_large: %s', async (letter) => {
    const sized = (bytes: number) => {
      const frame = Buffer.byteLength(JSON.stringify(ask('free', '')));
      const letters = Math.floor((bytes - frame) / Buffer.byteLength(letter));
      const filled = letter.repeat(letters) + 'x'.repeat(bytes - frame - letters * Buffer.byteLength(letter));
      const body = JSON.stringify(ask('free', filled));
      expect(Buffer.byteLength(body)).toBe(bytes);
      return body;
    };
    await refusedAs(gateway.post(sized(functionBodyMaxBytes + 1)), 413, 'request_too_large');
    const { usage } = await answerOf(await gateway.post(sized(functionBodyMaxBytes)));
    expect(usage.attempts).toBe(1);
  });

  it.each([
    ['spend limit of its key', 'limited', 'spend_limit_exceeded', /spend limit of the key/],
    ['credit of its workspace', 'poor', 'PAYMENT_REQUIRED', /USD of credit/],
    ['spend limit of its workspace', 'capped', 'PAYMENT_REQUIRED', /spend limit of the workspace/],
  ] as const)('that may cost more than the %s says how much, and one that is free passes', async (...row) => {
    const [, name, code, words] = row;
    const paying = { authorization: `Bearer ${otherKeys[name]}` };
    const message = await refusedAs(call('shared', paying), 402, code);
    expect(message).toMatch(words);
    expect(message).toMatch(/may cost 0\.0\d+ USD, and 0\.000001 USD/);
    await answerOf(await call('free', paying));
    await gateway.settled();
    expect(await expectBalancedBooks(gateway, `of-${name}`)).toBe(0n);
  });

  it.each(['allowed', 'off'] as const)(
    'is paid by its workspace if a stored key of the client’s need not, or must not, be used: %s',
    async (name) => {
      const { usage } = await answerOf(await call('shared', { authorization: `Bearer ${otherKeys[name]}` }));
      expect(usage).toMatchObject({ is_byok: false, cost: expect.any(Number) });
      const [upstreamCall] = gateway.simulator.calls;
      expect(JSON.stringify(upstreamCall)).not.toContain('sk-key-of-the-client');
    },
  );
});
