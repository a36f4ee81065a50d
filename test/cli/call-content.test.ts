// `gw calls show --content` shows an operator the bodies that a gateway stored in its folder.
import { afterAll, beforeAll, expect, it } from '#jest';
import { startLocalGateway } from '../../infra/local/start-local-gateway.ts';
import { startTestSimulator } from '../support/test-simulator.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

/** A text that would set the window's title, and a line that no gateway wrote. */
const hostile = 'a\u001b]0;owned\u0007\nstatus            200';

type Made = Readonly<Record<'id' | 'text' | 'sent', string>>;

let local: LocalStore;
let plain: Made;
let stream: Made;
let unkept: Made;
beforeAll(async () => {
  local = await startLocalStore();
  const simulator = await startTestSimulator();
  const apply = async (workspace: Record<string, unknown>) => {
    const file = gatewayFile({ baseUrl: simulator.urlOf('acme'), workspace });
    return operateJson<Applied>(`apply -f ${local.write('gateway.yaml', file)} --yes ${local.option}`);
  };
  const key = (await apply({ content_log: { keep: '7d' } })).created_keys[0]?.key;
  /** Makes calls at a gateway and stops it, so that everything it stores is written. */
  const calls = async (...bodies: object[]): Promise<Made[]> => {
    const start = { port: 0, config: undefined, data: local.data, dynamodb: undefined };
    const gateway = await startLocalGateway(start, () => {});
    const calls: Made[] = [];
    for (const body of bodies) {
      const sentText = JSON.stringify({ messages: [{ role: 'user', content: hostile }], ...body });
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(`${gateway.url}/chat/completions`, { method: 'POST', headers, body: sentText });
      calls.push({ id: response.headers.get('x-request-id') ?? '', text: await response.text(), sent: sentText });
    }
    await gateway.stop();
    return calls;
  };
  [plain, stream] = (await calls({ model: 'acme/small' }, { model: 'acme/small', stream: true })) as [Made, Made];
  await apply({ content_log: null });
  [unkept] = (await calls({ model: 'acme/small' })) as [Made];
  await simulator.stop();
});
afterAll(() => local.stop());

interface Applied {
  readonly created_keys: readonly { readonly key: string }[];
}
const show = (id: string, more = '') => operate(`calls show ${id}${more} ${local.option}`);

it.each(['a whole answer', 'a stream'])(
  'gw calls show --content shows what the client sent and got, letter for letter: %s',
  async (which) => {
    const { id, text, sent } = which === 'a stream' ? stream : plain;
    const call = await operateJson<{ id: string; content: object }>(`calls show ${id} --content ${local.option}`);
    expect(call).toMatchObject({
      id,
      content: { id, request: sent, answer: { status: 200, body: text }, sent: [], cut: false },
    });
  },
);

it('gw calls show --content shows bodies to people in lines of their own, which nothing in a body steers or forges', async () => {
  for (const { id } of [plain, stream]) {
    const { code, out } = await show(id, ' --content');
    expect(code).toBe(0);
    expect(out).toMatch(/^request of the client:\n\{\n {2}"messages": \[$/m);
    expect(out).toMatch(/^answer, status 200:$/m);
    expect(out).toContain('owned');
    expect(out).not.toMatch(/[^\P{Cc}\n]/u);
    expect(out.match(/^status +200$/gm)).toHaveLength(1);
  }
});

it('gw calls show shows no body without --content', async () => {
  const { out } = await show(plain.id);
  expect(out).not.toContain('owned');
  expect(await operateJson(`calls show ${plain.id} ${local.option}`)).not.toHaveProperty('content.request');
});

it('gw calls show --content says that there is no body if the workspace keeps none', async () => {
  expect((await show(unkept.id)).code).toBe(0);
  const { code, out, error } = await show(unkept.id, ' --content');
  expect([code, out]).toEqual([1, '']);
  expect(error).toContain('No bodies of this call are kept: its workspace keeps none');
});
