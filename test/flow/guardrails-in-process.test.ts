// Guardrails in the process, on each interface of a conversation, whole and streamed, without any service.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type OperatorRequests, operatorOf } from '../support/operator-requests.ts';
import { type SpokenInterface, spokenInterfaces } from '../support/spoken-interfaces.ts';

const conversations = spokenInterfaces.filter(({ id }) => ['chat-completions', 'messages', 'responses'].includes(id));
const deliveries = conversations.flatMap((one) => [true, false].map((stream) => ({ ...one, stream })));

const keys = {
  words: newKey(),
  codes: newKey(),
  personal: newKey(),
  narrow: newKey(),
  blocked: newKey(),
  run: newKey(),
  free: newKey(),
};
/** Each delivery has a key of its own: of many refused calls of a key a second only a few leave records. */
const refusedKeys = new Map(deliveries.map((one) => [one, newKey()]));
const secretWord = 'Project Apollo';
const email = 'ann@example.com';
let harness: Harness;
let owner: OperatorRequests;

beforeAll(async () => {
  harness = await startHarness({
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
    },
    providers: { acme: { apis: ['chat-completions', 'messages', 'responses'] } },
    guardrails: [
      { id: 'secrets', kind: 'words', words: [secretWord], on: ['input'] },
      {
        id: 'codes',
        kind: 'patterns',
        patterns: [{ name: 'order', regex: 'A-\\d{4}' }],
        action: 'mask',
        on: ['input'],
      },
      { id: 'personal', kind: 'pii', types: ['email', 'card'], action: 'mask', on: ['output'] },
      { id: 'narrow', kind: 'pii', types: ['card'], action: 'mask', on: ['output'], window_characters: 12 },
      {
        id: 'run',
        kind: 'patterns',
        patterns: [{ name: 'run', regex: 'N(?: \\d+)+' }],
        action: 'mask',
        on: ['output'],
        window_characters: 12,
      },
      { id: 'blocked', kind: 'words', words: [secretWord], on: ['output'], window_characters: 12 },
    ],
    moreWorkspaces: [
      {
        id: 'guarded',
        credit_usd: '100',
        content_log: { keep: '1d' },
        keys: [
          { name: 'words', key: keys.words, guardrails: ['secrets'] },
          ...[...refusedKeys].map(([{ id, stream }, key]) => ({
            name: `refused-${id}-${stream}`,
            key,
            guardrails: ['secrets'],
          })),
          { name: 'codes', key: keys.codes, guardrails: ['codes'] },
          { name: 'personal', key: keys.personal, guardrails: ['personal'] },
          { name: 'narrow', key: keys.narrow, guardrails: ['narrow'] },
          { name: 'blocked', key: keys.blocked, guardrails: ['blocked'] },
          { name: 'run', key: keys.run, guardrails: ['run'] },
          { name: 'free', key: keys.free },
        ],
      },
    ],
  });
  owner = await operatorOf(harness, 'olga');
});
afterAll(() => harness.stop());
beforeEach(() => harness.simulator.clear());

/** Returns a request with this text alone. The model repeats it. */
function requestOf({ id, hello }: SpokenInterface, text: string, stream: boolean) {
  const body = id === 'responses' ? { input: text, store: false } : { messages: [{ role: 'user', content: text }] };
  return hello('acme/echo', { ...body, stream });
}

const send = (one: SpokenInterface & { readonly stream: boolean }, text: string, key: string) =>
  harness.postTo(one.path, requestOf(one, text, one.stream), { authorization: `Bearer ${key}` });

/** Returns the stored bodies of a call. */
async function contentOf(response: Response) {
  await harness.settled();
  return (await owner.get(`/calls/${response.headers.get('x-request-id')}/content`)).body.data;
}

/** Returns all texts of an answer in their order. */
const textsIn = (one: SpokenInterface & { readonly stream: boolean }, body: string): string =>
  one.stream ? one.contentOf(body) : body;

describe.each(deliveries)('a guardrail in the process, on $name (stream: $stream)', (one) => {
  it('refuses a request with a word, and no provider gets it', async () => {
    const response = await send(one, 'On project\n apollo today', refusedKeys.get(one) ?? '');
    const { message } = await expectError(response, 400, 'invalid_request', { reason: 'content_policy_violation' });
    expect(message).toContain('secrets');
    expect(message.toLowerCase()).not.toContain('apollo');
    expect(harness.simulator.calls).toEqual([]);
    const { request, answer, blocked, sent } = await contentOf(response);
    expect(request).toContain(JSON.stringify('On project\n apollo today'));
    expect(answer.status).toBe(400);
    expect({ blocked, sent }).toEqual({ blocked: null, sent: [] });
  });

  it('lets a request without it pass as it is', async () => {
    const response = await send(one, 'On Project Apollonia', keys.words);
    await response.text();
    expect(response.status).toBe(200);
    expect(harness.simulator.calls.at(-1)?.bodyText).toContain('Project Apollonia');
  });

  it('masks a pattern of a request before its provider gets it', async () => {
    const response = await send(one, 'Where is A-1234?', keys.codes);
    await response.text();
    expect(response.status).toBe(200);
    expect(harness.simulator.calls).toHaveLength(1);
    expect(harness.simulator.calls[0]?.bodyText).toContain('Where is [order]?');
    expect(harness.simulator.calls[0]?.bodyText).not.toContain('1234');
  });

  it('masks what crosses chunks of an answer', async () => {
    const response = await send(one, `Write to ${email} about 4111 1111 1111 1111 now`, keys.personal);
    const body = await response.text();
    expect(response.status).toBe(200);
    expect(textsIn(one, body)).toContain('Write to [email] about [card] now');
    for (const part of [email, 'example.com', ' 4111', ' 1111']) expect(body).not.toContain(part);
  });

  it('ends an answer with a word that crosses windows, before all of it is sent', async () => {
    const response = await send(one, 'Some words on Project Apollo and more', keys.blocked);
    const body = await response.text();
    expect(response.status).toBe(200);
    expect(textsIn(one, body)).toContain('The text has a word that is not allowed.');
    expect(body).not.toContain('Apollo');
    expect(body).not.toContain('and more');
    const content = await contentOf(response);
    expect(content.answer.body).toBe(body);
    expect(content.blocked).toContain('Apollo');
  });

  it('masks all of what goes on after the end of a window, and of what ends with the answer', async () => {
    const response = await send(one, 'The run N 1 2 3 4 5 6 7 8 9 end, N 7 8', keys.run);
    const body = await response.text();
    expect(response.status).toBe(200);
    const text = textsIn(one, body);
    expect(text).toContain('[run] end, [run]');
    if (one.stream) expect(text).not.toMatch(/\d/);
  });

  it('never sends all of a number that crosses windows', async () => {
    const response = await send(one, 'My number 4111 1111 1111 1111 is a number', keys.narrow);
    const body = await response.text();
    expect(response.status).toBe(200);
    expect(textsIn(one, body)).not.toContain('4111 1111 1111 1111');
    expect(textsIn(one, body)).toContain(one.stream ? 'cannot be masked' : 'My number [card] is a number');
  });
});
