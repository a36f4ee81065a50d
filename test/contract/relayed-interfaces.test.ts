// Rules of every interface that is relayed as JSON without streams; each rule is a row.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { countOutcomes } from '../support/outcomes.ts';
import { wholeInterfaces } from '../support/spoken-interfaces.ts';

type Json = Record<string, unknown>;

const picoUsdPerToken = 1_000_000n;

describe.each(wholeInterfaces)('the interface of $name', ({ id, api, path, hello, answerPart }) => {
  const capped = newKey();
  /** The text of a call, which reserves one token for each byte of its body. */
  const fullCall = JSON.stringify(hello('acme/full'));
  const fullUsd = `0.${String(fullCall.length * 7).padStart(6, '0')}`;
  const poor = newKey();
  let gateway: Harness;

  beforeAll(async () => {
    const more = { output_price_per_million: '5', max_output_tokens: 1, supported_params: {} };
    const free = { ...more, input_price_per_million: '0', output_price_per_million: '0' };
    gateway = await startHarness({
      speaks: { api, path },
      models: {
        'acme/echo': [{ provider: 'acme', upstream: 'echo', more }],
        'acme/full': [{ provider: 'acme', upstream: `usage:${fullCall.length}:0`, more }],
        'acme/free': [{ provider: 'acme', upstream: 'echo', more: free }],
        'acme/members': [{ provider: 'acme', upstream: 'unknown-members', more }],
        'zen/chat': [{ provider: 'zen', upstream: 'echo' }],
      },
      providers: { zen: { apis: ['chat-completions'] } },
      moreWorkspaces: [
        { id: 'capped', credit_usd: '100', keys: [{ name: 'seven', key: capped, spend_limit_usd: fullUsd }] },
        { id: 'poor', credit_usd: '0', keys: [{ name: 'none', key: poor }] },
      ],
    });
  });
  afterAll(() => gateway.stop());

  const origin = () => new URL(gateway.url).origin;
  const as = (key: string) => ({ authorization: `Bearer ${key}` });

  it('reaches the provider without what is the gateway’s own, and everything else as it was sent', async () => {
    gateway.simulator.clear();
    const gatewayFields = { provider: { only: ['acme'] }, models: ['acme/free'], cache: { enabled: false } };
    const request = hello('acme/echo', { user: 'u-1', a_new_member: { deep: [1.5] } });
    const response = await gateway.post({ ...request, ...gatewayFields });
    expect(response.status).toBe(200);
    expect(gateway.simulator.calls.map(({ body, path: reached }) => [reached, body])).toEqual([
      [`/acme/v1${path}`, { ...request, model: 'echo' }],
    ]);
    expect(await gateway.recordOf(response)).toMatchObject({ interfaceId: id, user: 'u-1' });
    expect(response.headers.get('x-gw-model')).toBe('acme/echo');
  });

  it('is the same below /openai/v1, and without a base URL in the form of OpenAI', async () => {
    for (const base of ['/openai/v1', '']) {
      const answer = await fetch(`${origin()}${base}${path}`, {
        method: 'POST',
        headers: as(gateway.key),
        body: JSON.stringify(hello('acme/echo')),
      });
      expect([base, answer.status, await answer.text()]).toEqual([base, 200, expect.stringContaining(answerPart)]);
      const refusal = await fetch(`${origin()}${base}${path}`, {
        method: 'POST',
        headers: as(gateway.key),
        body: JSON.stringify(hello('acme/nothing')),
      });
      expect(await refusal.json()).toMatchObject({ error: { code: 'unknown_model', param: 'model' } });
    }
  });

  it('says what it cost, in its usage or in a header, and what it cost is what is charged', async () => {
    const before = (await gateway.credit()).spent;
    const response = await gateway.post(hello('acme/echo'));
    const { usage } = (await response.json()) as { usage?: { cost_usd?: string } };
    const costText = usage?.cost_usd ?? response.headers.get('x-gw-cost');
    const record = await gateway.recordOf(response);
    expect(record?.costPicoUsd).toBeGreaterThan(0n);
    expect(BigInt(Math.round(Number(costText) * 1e12))).toBe(record?.costPicoUsd);
    expect((await expectBalancedBooks(gateway)) - before).toBe(record?.costPicoUsd);
    expect(gateway.logLines.filter((line) => line.includes('charge_over_hold'))).toEqual([]);
  });

  it('reserves its input alone, so that of forty concurrent calls exactly those pass that a spend limit covers', async () => {
    gateway.simulator.clear();
    const answers = Array.from({ length: 40 }, () => gateway.post(fullCall, as(capped)));
    const { ok = 0, ...others } = await countOutcomes(answers);
    // Without a report, less is charged than was reserved, so more calls fit.
    expect(ok).toBeGreaterThanOrEqual(7);
    expect(others).toEqual(ok === 40 ? {} : { PAYMENT_REQUIRED: 40 - ok });
    expect(gateway.simulator.calls).toHaveLength(ok);
    await gateway.settled();
    expect(await expectBalancedBooks(gateway, 'capped')).toBeLessThanOrEqual(
      BigInt(fullCall.length) * 7n * picoUsdPerToken,
    );
  });

  it('is free if its price is 0, and asks for credit if it is not', async () => {
    const [free, priced] = [hello('acme/free'), hello('acme/echo')];
    expect((await gateway.post(priced, as(poor))).status).toBe(402);
    gateway.simulator.clear();
    const before = (await gateway.credit()).spent;
    const response = await gateway.post(free);
    expect([response.status, response.headers.get('x-gw-model')]).toEqual([200, 'acme/free']);
    expect(await gateway.recordOf(response)).toMatchObject({ costPicoUsd: 0n });
    expect(await expectBalancedBooks(gateway)).toBe(before);
    expect((await gateway.post(free, as(poor))).status).toBe(200);
  });

  it('is named by the list of models, for the models that serve it alone', async () => {
    const { data } = (await (await gateway.get('/models')).json()) as { data: { id: string; apis?: string[] }[] };
    const apisOf = (model: string) => data.find((one) => one.id === model)?.apis;
    expect(apisOf('acme/echo')).toEqual([id]);
    expect(apisOf('zen/chat')).not.toContain(id);
  });

  it.each<[string, Json, string, string]>([
    ['a preset', { preset: 'x' }, 'invalid_request', 'preset'],
    ['a function alias', { model: 'gw/function/x' }, 'invalid_function_request', 'model'],
    ['a model of another interface', { model: 'zen/chat' }, 'model_not_routable', 'model'],
    ['a provider that is unknown', { provider: { only: ['nobody'] } }, 'invalid_request', 'provider.only[0]'],
    ['a model in another letter case', { Model: 'acme/echo' }, 'invalid_request', 'model'],
  ])('refuses %s before a provider is called', async (_what, more, code, param) => {
    gateway.simulator.clear();
    const before = (await gateway.credit()).spent;
    const response = await gateway.post(hello('acme/echo', more), { 'x-gw-error-format': 'openai' });
    expect(await response.json()).toMatchObject({ error: { code, param } });
    expect(gateway.simulator.calls).toEqual([]);
    await gateway.settled();
    expect((await gateway.credit()).spent).toBe(before);
  });

  it('hands on what a provider adds, byte for byte if nothing is merged', async () => {
    const answer = await (await gateway.post(hello('acme/members'))).text();
    const direct = await fetch(`${gateway.simulator.urlOf('acme')}${path}`, {
      method: 'POST',
      body: JSON.stringify({ ...hello('acme/members'), model: 'unknown-members' }),
    });
    const isMerged = 'usage' in (JSON.parse(answer) as Json);
    const comparable = (text: string) => {
      const withoutId = text.replaceAll(/"id"\s*:\s*"[^"]*"/g, '');
      return isMerged ? { ...JSON.parse(text), usage: undefined, id: undefined } : withoutId;
    };
    expect(comparable(answer)).toEqual(comparable(await direct.text()));
  });
});
