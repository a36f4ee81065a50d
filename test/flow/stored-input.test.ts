// Input that a provider stores. A request that refers to it reserves the model's whole context, goes to the provider
// that stores it, and never reaches it with a credential of the gateway unless the workspace made it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';

type Json = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field.
type Any = any;

const apis = ['chat-completions', 'messages', 'responses'];
const extras = ['mcp', 'prompt', 'file_search', 'code_interpreter', 'image_generation', 'code_execution', 'shell'];
const more = { supported_params: { tools: true, vision: true, extras } };
const otherKey = newKey();
const dayMs = 24 * 60 * 60 * 1_000;
const clock = manualClock();

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    clock,
    models: {
      'on/own': [
        { provider: 'acme', upstream: 'echo', more },
        { provider: 'globex', upstream: 'echo', more },
      ],
      'on/shared': [{ provider: 'shared', upstream: 'echo', more }],
    },
    providers: {
      acme: { apis, accepts_byok_header: true },
      globex: { apis },
      shared: { apis, shared_state: true },
    },
    modelMembers: Object.fromEntries(
      ['on/own', 'on/shared'].map((id) => [id, { modalities: ['text', 'image', 'audio'] }]),
    ),
    workspace: { features: { byok: true } },
    moreWorkspaces: [{ id: 'other', credit_usd: '100', keys: [{ name: 'first', key: otherKey }] }],
  });
});
afterAll(() => gateway.stop());
afterEach(() => gateway.simulator.clear());

const history = { messages: [{ role: 'user', content: 'Hi.' }] };
const chat = (body: Json) => ['/chat/completions', { max_tokens: 10, ...history, ...body }] as const;
const messages = (body: Json) => ['/messages', { max_tokens: 10, ...history, ...body }] as const;
const responses = (body: Json) => ['/responses', { max_output_tokens: 16, input: 'Hi.', ...body }] as const;
const inChat = (part: Json) => chat({ messages: [{ role: 'user', content: [part] }] });
const inMessage = (part: Json) => messages({ messages: [{ role: 'user', content: [part] }] });
const inItem = (part: Json) => responses({ input: [{ role: 'user', content: [part] }] });
const tool = (one: Json) => responses({ tools: [one] });

const shellCall = { type: 'shell_call', call_id: 'call_a', action: { commands: ['ls'] } };

/** The ways in which a request can refer to stored input, with the field that refusals name. */
const references: readonly (readonly [string, readonly [string, Json]])[] = [
  ['previous_response_id', responses({ previous_response_id: 'resp_1' })],
  ['conversation', responses({ conversation: 'conv_1' })],
  ['conversation', responses({ conversation: { id: 'conv_1' } })],
  ['prompt', responses({ prompt: { id: 'pmpt_1' } })],
  ['input[0]', responses({ input: [{ type: 'item_reference', id: 'msg_1' }] })],
  ['input[0]', responses({ input: [{ id: 'msg_1' }] })],
  ['input[0]', responses({ input: [{ type: null, id: 'msg_1' }] })],
  ['input[0]', responses({ input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] })],
  ['input[0]', responses({ input: [{ type: 'image_generation_call', id: 'ig_1' }] })],
  ['input[0].content[0]', inItem({ type: 'input_file', file_id: 'file-1' })],
  ['input[0].content[0]', inItem({ type: 'input_image', file_id: 'file-1' })],
  [
    'input[0].output',
    responses({
      input: [
        { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'file-1' } },
      ],
    }),
  ],
  ['tools[0]', tool({ type: 'file_search', vector_store_ids: ['vs_1'] })],
  ['tools[0]', tool({ type: 'code_interpreter', container: 'cntr_1' })],
  ['tools[0].container', tool({ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } })],
  ['tools[0].input_image_mask', tool({ type: 'image_generation', input_image_mask: { file_id: 'file-1' } })],
  [
    'tools[0].environment',
    tool({ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }),
  ],
  ['thread', messages({ thread: { type: 'continue', previous_message_id: 'msg_1' } })],
  ['thread', messages({ thread: { type: 'continue' } })],
  ['container', messages({ container: 'container_1' })],
  ['container', messages({ container: { id: 'container_1' } })],
  ['messages[0].content[0].source', inMessage({ type: 'image', source: { type: 'file', file_id: 'file_1' } })],
  ['messages[0].content[0].source', inMessage({ type: 'document', source: { type: 'file', file_id: 'file_1' } })],
  ['messages[0].content[0]', inMessage({ type: 'container_upload', file_id: 'file_1' })],
  ['system[0].source', messages({ system: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] })],
  ['messages[0].content[0].file', inChat({ type: 'file', file: { file_id: 'file-1' } })],
  ['messages[0].content[0].image_url', inChat({ type: 'image_url', image_url: { url: 'gs://bucket/a.png' } })],
  [
    'messages[0].content[0].image_url',
    inChat({ type: 'image_url', image_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }),
  ],
  ...['video_url', 'audio_url', 'document_url'].flatMap((type): (readonly [string, readonly [string, Json]])[] => [
    [`messages[0].content[0].${type}`, inChat({ type, [type]: { url: 'gs://bucket/1' } })],
    ['messages[0].content[0]', inChat({ type, [type]: 's3://bucket/1' })],
  ]),
  ['messages[1]', chat({ messages: [...history.messages, { role: 'assistant', audio: { id: 'audio_1' } }] })],
  ['audio.voice', chat({ modalities: ['text', 'audio'], audio: { format: 'wav', voice: { id: 'voice_1' } } })],
  ['tools[0]', tool({ type: 'mcp', server_label: 'a', tunnel_id: 'tunnel_1' })],
  [
    'tools[0].environment.skills[0]',
    tool({
      type: 'shell',
      environment: { type: 'container_auto', skills: [{ type: 'skill_reference', skill_id: 'skill_1' }] },
    }),
  ],
  ['tools[0].environment', tool({ type: 'shell', environment: { type: 'container_auto', file_ids: ['file-1'] } })],
  [
    'input[0].environment',
    responses({ input: [{ ...shellCall, environment: { type: 'container_reference', container_id: 'cntr_1' } }] }),
  ],
  [
    'input[0]',
    responses({ input: [{ type: 'code_interpreter_call', id: 'ci_1', code: '1', container_id: 'cntr_1' }] }),
  ],
  ['container.skills[0]', messages({ container: { skills: [{ type: 'custom', skill_id: 'skill_1' }] } })],
  ['cached_content', chat({ cached_content: 'cachedContents/1' })],
  ['extra_body.google.cached_content', chat({ extra_body: { google: { cached_content: 'cachedContents/1' } } })],
];

let count = 1;
/** Returns the request with ids that no call has named yet. */
const fresh = ([path, body]: readonly [string, Json]): readonly [string, Json] => {
  count += 1;
  return [path, JSON.parse(JSON.stringify(body).replaceAll(/(?<=[-_/])(1|abc)"/g, `${count}"`))];
};

const ask = async ([path, body]: readonly [string, Json], more: Json = {}, headers: Record<string, string> = {}) => {
  const response = await gateway.postTo(path, { model: 'on/own', ...body, ...more }, headers);
  const text = await response.text();
  const answer: Any = body.stream === true || more.stream === true ? undefined : JSON.parse(text);
  return { status: response.status, code: answer?.error_code ?? answer?.error, answer, text };
};
const calledProviders = () => gateway.simulator.calls.map(({ provider }) => provider);
const message = ({ answer }: Any): string => answer.message ?? answer.error.message;

describe.each(references)('%s, as in %j', (member, request) => {
  it('is refused as unknown and no provider is called, if nothing in the workspace has made it', async () => {
    const refusal = await ask(fresh(request));
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(message(refusal)).toContain(`${member}: names nothing that this workspace has made`);
    expect(calledProviders()).toEqual([]);
  });

  it('is reserved at the context of the model, if the operator shares what the provider keeps', async () => {
    // The request asks for more output than the credit covers: the message names the amount to reserve. 128,000 tokens
    // of input cost $1 a million.
    const bound = request[0] === '/responses' ? 'max_output_tokens' : 'max_tokens';
    const refusal = await ask(fresh(request), { model: 'on/shared', [bound]: 60_000_000 });
    expect(refusal.status).toBe(402);
    expect(message(refusal)).toContain('120.128');
  });

  it('goes to the provider on the key of its own client, and if the operator shares what the provider keeps', async () => {
    const answer = await ask(fresh(request), { provider: { only: 'acme' } }, { 'x-byok-key': 'sk-own' });
    const shared = await ask(fresh(request), { model: 'on/shared' });
    // The simulator refuses some of these requests for reasons of its own.
    expect(calledProviders()).toEqual(['acme', 'shared']);
    for (const { text } of [answer, shared]) expect(text).not.toContain('has made through this gateway');
  });
});

it('an unknown thread is reported with the word by which clients begin a new one', async () => {
  const refusal = await ask(messages({ thread: { type: 'continue', previous_message_id: 'msg_none' } }));
  expect(refusal.answer.error.details).toEqual({ error_code: 'thread_not_found' });
});

describe('what a workspace has made', () => {
  const idsOfAnswer = async (stream: boolean) => {
    const { text } = await ask(responses({ stream }), { provider: { only: 'globex' } });
    gateway.simulator.clear();
    const find = (prefix: string) => new RegExp(`${prefix}_[0-9a-f]+`).exec(text)?.[0];
    return { response: find('resp'), item: find('msg') };
  };

  it.each([false, true])(
    'is reached at the provider that keeps it: the response, the one after it, and its items (stream: %s)',
    async (stream) => {
      const { response, item } = await idsOfAnswer(stream);
      const { text } = await ask(responses({ stream, previous_response_id: response }));
      for (const request of [
        responses({ stream, previous_response_id: /resp_[0-9a-f]+/.exec(text)?.[0] }),
        responses({ input: [{ type: 'item_reference', id: item }] }),
        responses({ input: [{ id: item }, { role: 'user', content: 'And?' }] }),
      ]) {
        expect((await ask(request)).status).toBe(200);
      }
      expect(calledProviders()).toEqual(Array(4).fill('globex'));
    },
  );

  it('is refused to another workspace, to a request that names something else beside it, and after thirty days', async () => {
    const { response, item } = await idsOfAnswer(false);
    const request = responses({ previous_response_id: response });
    const other = { authorization: `Bearer ${otherKey}` };
    expect(await ask(request, {}, other)).toMatchObject({ status: 400, code: 'invalid_request' });
    const beside = responses({ previous_response_id: response, input: [{ id: item }, { id: 'msg_other' }] });
    expect(message(await ask(beside))).toContain('input[1]');
    clock.advance(29 * dayMs);
    expect((await ask(request)).status).toBe(200);
    gateway.simulator.clear();
    clock.advance(2 * dayMs);
    expect((await ask(request)).status).toBe(400);
    expect(calledProviders()).toEqual([]);
  });

  it('is not made by referring to it: a conversation that was shared once is not reached without the operator', async () => {
    const request = responses({ conversation: 'conv_shared' });
    expect((await ask(request, { model: 'on/shared' })).status).toBe(200);
    expect(await ask(request)).toMatchObject({ status: 400 });
    expect(calledProviders()).toEqual(['shared']);
  });

  it('is looked up of a request until one is not known, however many it names', async () => {
    const reads: unknown[] = [];
    const { providerAffinity } = gateway.composition;
    const watchedGateway = await gateway.open({
      replace: () => ({
        providerAffinity: {
          ...providerAffinity,
          find: (workspace, ids) => {
            reads.push(...ids);
            return providerAffinity.find(workspace, ids);
          },
        },
      }),
    });
    const input = Array.from({ length: 30_000 }, (_, at) => ({ id: `msg_${at}` }));
    const refusal = await watchedGateway.postTo('/responses', { model: 'on/own', max_output_tokens: 16, input });
    expect([refusal.status, reads.length]).toEqual([400, 32]);
    expect(calledProviders()).toEqual([]);
  });

  it('is nothing of a call that a provider keeps nothing of', async () => {
    const { answer } = await ask(responses({ store: false }));
    gateway.simulator.clear();
    expect((await ask(responses({ previous_response_id: answer.id }))).status).toBe(400);
    expect(calledProviders()).toEqual([]);
  });
});
