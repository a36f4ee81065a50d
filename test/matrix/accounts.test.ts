// Which account serves a call, and which headers and fields reach it, for every interface at every format.
import { expect } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { goodKey } from '../support/gated-provider.ts';
import { newKey } from '../support/gateway-file.ts';
import { type OperatorRequests, operatorOf } from '../support/operator-requests.ts';
import { askRows, type MatrixCell } from './ask-rows.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents of the management interface.
type Any = any;
const clientKey = 'sk-matrix-client';
const badKey = 'sk-matrix-bad';
const keys = { private: newKey(), logged: newKey() };
Object.assign(process.env, { GW_TEST_MATRIX_GOOD: goodKey, GW_TEST_MATRIX_BAD: badKey });
const [good, bad] = [{ env: 'GW_TEST_MATRIX_GOOD' }, { env: 'GW_TEST_MATRIX_BAD' }];
/** With this many sessions, at least one is drawn to the refused credential. */
const sessionsMax = 16;

let owner: OperatorRequests | undefined;
async function contentOf({ harness }: MatrixCell, response: Response) {
  await harness.settled();
  owner ??= await operatorOf(harness, 'olga');
  return (await owner.get(`/calls/${response.headers.get('x-request-id')}/content`)).body.data;
}

askRows('accounts', {
  models: {
    byok: () => [{ behaviour: 'echo', provider: { auth: { bearer: good }, accepts_byok_header: true } }],
    pool: () => [{ behaviour: 'echo', gate: 'keyed', provider: { auth: { bearer: bad }, credentials: [bad, good] } }],
    echo: () => [{ behaviour: 'echo' }],
    private: () => [{ behaviour: 'echo', provider: { data_policy: { zdr: true } } }],
  },
  unservable: ['echo'],
  options: () => ({
    workspace: { features: { byok: true } },
    moreWorkspaces: [
      { id: 'private', credit_usd: '100', data_policy: { zdr: true }, keys: [{ name: 'k', key: keys.private }] },
      { id: 'logged', credit_usd: '100', content_log: { keep: '30d' }, keys: [{ name: 'k', key: keys.logged }] },
    ],
  }),
  ask: {
    async 'a key of the client at the provider'(cell) {
      await cell.harness.settled();
      const before = (await cell.harness.credit()).spent;
      const [only] = cell.providersOf('byok');
      const more = { provider: { only: [only] } };
      const response = await cell.send({ model: 'byok', more, headers: { 'x-byok-key': clientKey } });
      const text = await response.text();
      expect({ status: response.status, text }).toMatchObject({ status: 200 });
      expect(await cell.recordOf(response)).toMatchObject({ is_byok: true });
      expect((await cell.harness.credit()).spent).toBe(before);
      const [call, ...others] = cell.received('byok');
      expect(others).toEqual([]);
      expect(JSON.stringify(call?.headers)).toContain(clientKey);
      expect(JSON.stringify(call?.headers)).not.toContain(goodKey);
      expect(text).not.toContain(clientKey);
    },
    async 'a pool of credentials'(cell) {
      const [provider = ''] = cell.providersOf('pool');
      for (let session = 0; session < sessionsMax && !cell.gate.refusals.includes(provider); session += 1) {
        const response = await cell.send({ model: 'pool', headers: { 'x-gw-session-id': `s-${session}` } });
        const text = await response.text();
        expect({ status: response.status, text }).toMatchObject({ status: 200 });
        expect(text).not.toContain(badKey);
      }
      expect(cell.gate.refusals.filter((one) => one === provider)).toEqual([provider]);
    },
    async 'state that another workspace made'(cell) {
      const before = cell.received('echo').length;
      const response = await cell.send({ model: 'echo', more: cell.entry.reference ?? {} });
      const text = await response.clone().text();
      const code = text.includes('feature_unsupported') ? 'feature_unsupported' : 'invalid_request';
      await expectError(response, 400, cell.service === 'relayed' ? 'invalid_request' : code);
      expect(cell.received('echo')).toHaveLength(before);
    },
    async 'a provider that cannot serve'(cell) {
      const response = await cell.send({ model: 'echo' });
      const text = await response.clone().text();
      const isRefused = cell.entry.isRefusedTranslated && text.includes('feature_unsupported');
      await expectError(response, 400, isRefused ? 'feature_unsupported' : 'model_not_routable');
      expect(cell.received('echo')).toEqual([]);
    },
    async 'a data policy'(cell) {
      const before = cell.received('echo').length;
      const refusal = await cell.send({ model: 'echo', key: keys.private });
      await expectError(refusal, 422, 'no_policy_compliant_provider');
      expect(cell.received('echo')).toHaveLength(before);
      const response = await cell.send({ model: 'private', key: keys.private });
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    },
    async 'the content log'(cell) {
      const before = cell.received('echo').length;
      const call = { model: 'echo', text: 'Keep this', key: keys.logged };
      const response = await cell.send(call);
      const text = Buffer.from(await response.arrayBuffer()).toString('utf8');
      const content = await contentOf(cell, response);
      expect(content.cut).toBe(false);
      if (cell.entry.files === undefined) expect(content.request).toBe(JSON.stringify(cell.fieldsOf(call)));
      else expect(content.request).toContain('Keep this');
      expect(content.answer.status).toBe(200);
      if (!response.headers.get('content-type')?.startsWith('audio/')) expect(content.answer.body).toBe(text);
      if (cell.interfaceId !== 'speech') expect(content.stream).toBe(cell.delivery === 'stream');
      const sentCalls = content.sent.map(({ provider, model, body }: Any) => [provider, model, JSON.parse(body)]);
      const translatedCalls = cell.service === 'relayed' ? [] : cell.received('echo').slice(before);
      expect(sentCalls).toEqual(translatedCalls.map(({ provider, body }) => [provider, `${cell.name}/echo`, body]));
      if (cell.service === 'translated')
        expect(content.sent.every((one: Any) => one.format === cell.format)).toBe(true);
    },
  },
});
