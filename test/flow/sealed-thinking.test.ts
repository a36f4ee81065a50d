// Reasoning that crosses formats is sealed for the workspace that received it: no client can forge it or use it in
// another workspace, and every process on the store accepts the seals of the others.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { signatureOf } from '../../infra/local/simulator/signature.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { dataLines, type Harness, type ServedGateway, startHarness } from '../support/harness.ts';
import { readChunks } from '../support/read-chunks.ts';

const thought = 'The user wants an answer. I should give a short one.';
const otherKey = newKey();
const model = 'on/claude';
const relays = ['chat-completions', 'messages', 'responses'] as const;

let gateway: Harness;
let otherProcess: ServedGateway;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true } };
  const upstream = 'anthropic.claude-haiku-4-5-v1/reasoning';
  gateway = await startHarness({
    models: {
      [model]: [{ provider: 'converse', upstream, more }],
      'on/other': [{ provider: 'converse', upstream: 'anthropic.claude-sonnet-4-5-v1/reasoning', more }],
      ...Object.fromEntries(relays.map((api) => [`relay/${api}`, [{ provider: api, upstream: 'echo', more }]])),
    },
    providers: {
      converse: { apis: ['converse'] },
      ...Object.fromEntries(relays.map((api) => [api, { apis: [api] }])),
    },
    workspace: {
      functions: [promptFunction('think', model, { options: { max_tokens: 4_000, reasoning: { max_tokens: 2_000 } } })],
    },
    moreWorkspaces: [{ id: 'other', credit_usd: '1', keys: [{ name: 'first', key: otherKey }] }],
  });
  otherProcess = await gateway.open();
});
afterAll(() => gateway.stop());

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into field by field.
type Any = any;

interface Client {
  readonly path: string;
  /** A model whose provider has the client's own interface. */
  readonly relay: string;
  readonly first: Any;
  /** Reads the part of an answer that contains its reasoning. */
  readonly sealedIn: (answer: Any) => string;
  /** Returns the conversation with the sealed part in it. */
  readonly goesOn: (answer: Any, sealedText: string) => Any;
  /** The path of the reasoning in the request. */
  readonly member: string;
  /** The same path in a relayed request; the default is `member`. */
  readonly relayMember?: string;
  readonly endOf: (text: string) => Any;
}

const eventsIn = (text: string): Any[] => dataLines(text).map((line) => JSON.parse(line));

const clients: Readonly<Record<string, Client>> = {
  'chat completions': {
    path: '/chat/completions',
    relay: 'relay/chat-completions',
    first: { model, max_tokens: 4_000, reasoning: { max_tokens: 2_000 }, messages: [{ role: 'user', content: 'Hi.' }] },
    sealedIn: ({ choices: [{ message }] }) => message.reasoning_details[0].signature,
    goesOn: ({ choices: [{ message }] }, signature) => {
      const [detail, ...rest] = message.reasoning_details;
      const reasoning_details = [{ ...detail, signature }, ...rest];
      return {
        messages: [
          { role: 'user', content: 'Hi.' },
          { ...message, reasoning_details },
          { role: 'user', content: 'And?' },
        ],
      };
    },
    member: 'messages[1].reasoning_details[0]',
    relayMember: 'messages[1].reasoning_details',
    endOf: (text) => ({ choices: [{ message: readChunks(dataLines(text)).message }] }),
  },
  Messages: {
    path: '/messages',
    relay: 'relay/messages',
    first: {
      model,
      max_tokens: 4_000,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      messages: [{ role: 'user', content: 'Hi.' }],
    },
    sealedIn: ({ content }) => content[0].signature,
    goesOn: ({ content: [block, ...rest] }, signature) => ({
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: [{ ...block, signature }, ...rest] },
        { role: 'user', content: 'And?' },
      ],
    }),
    member: 'messages[1].content[0].signature',
    endOf: (text) => ({
      content: [{ signature: eventsIn(text).find(({ delta }) => delta?.type === 'signature_delta').delta.signature }],
    }),
  },
  Responses: {
    path: '/responses',
    relay: 'relay/responses',
    first: {
      model,
      max_output_tokens: 4_000,
      reasoning: { effort: 'medium' },
      input: [{ role: 'user', content: 'Hi.' }],
    },
    sealedIn: ({ output }) => output[0].encrypted_content,
    goesOn: ({ output: [item, ...rest] }, encrypted_content) => ({
      input: [
        { role: 'user', content: 'Hi.' },
        { ...item, encrypted_content },
        ...rest,
        { role: 'user', content: 'And?' },
      ],
    }),
    member: 'input[1].encrypted_content',
    endOf: (text) => eventsIn(text).at(-1).response,
  },
};

describe.each(Object.values(clients))('thinking in a conversation at $path', ({ path, first, member, ...client }) => {
  const ask = (body: object, at: ServedGateway = gateway, key = gateway.key) =>
    at.postTo(path, { ...first, ...body }, { authorization: `Bearer ${key}` });
  const sentOf = () => JSON.stringify(gateway.simulator.calls.at(-1)?.body);

  async function answerOf(stream = false): Promise<Any> {
    const response = await ask({ stream });
    expect(response.status).toBe(200);
    return stream ? client.endOf(await response.text()) : response.json();
  }

  async function goesOn(answer: Any, sealedText: string, at?: ServedGateway, key?: string) {
    const response = await ask(client.goesOn(answer, sealedText), at, key);
    const text = await response.text();
    return [
      response.status,
      sentOf().includes(signatureOf(thought)),
      response.headers.get('x-gw-left-out'),
      text.includes('gw1.forged'),
    ];
  }

  it('comes back to the model that made it, in the same process and in another', async () => {
    const whole = await answerOf();
    for (const answer of [whole, { ...whole, ...(await answerOf(true)) }]) {
      const sealedText = client.sealedIn(answer);
      for (const at of [gateway, otherProcess]) {
        expect(await goesOn(whole, sealedText, at)).toEqual([200, true, null, false]);
      }
    }
  });

  it('is left out and reported if the provider has the interface of the client', async () => {
    const answer = await answerOf();
    const body = client.goesOn(answer, client.sealedIn(answer));
    const response = await ask({ ...body, model: client.relay });
    const leftOut = response.headers.get('x-gw-left-out');
    expect([response.status, leftOut, await response.text()]).toEqual([
      200,
      client.relayMember ?? member,
      expect.anything(),
    ]);
    expect(sentOf()).toContain('And?');
    expect(sentOf()).not.toContain('gw1.');
    await gateway.settled();
    const recorded = { modelAsked: client.relay, leftOut: [client.relayMember ?? member] };
    expect(await gateway.records()).toContainEqual(expect.objectContaining(recorded));
  });

  it('is left out and reported, once, if another model of a translated format goes on', async () => {
    const answer = await answerOf();
    const body = client.goesOn(answer, client.sealedIn(answer));
    const response = await ask({ ...body, model: 'on/other' });
    expect([response.status, response.headers.get('x-gw-left-out')]).toEqual([200, member]);
    await response.text();
    expect(sentOf()).toContain('And?');
    expect(sentOf()).not.toContain(signatureOf(thought));
    await gateway.settled();
    expect(await gateway.records()).toContainEqual(
      expect.objectContaining({ modelAsked: 'on/other', leftOut: [member] }),
    );
  });

  it('is left out and reported if another workspace sends it', async () => {
    const answer = await answerOf();
    expect(await goesOn(answer, client.sealedIn(answer), gateway, otherKey)).toEqual([200, false, member, false]);
  });

  it('is left out and reported if it is forged, however it is made', async () => {
    const answer = await answerOf();
    const sealedText = client.sealedIn(answer);
    const claims = {
      origin: 'anthropic-claude-v1',
      model: 'anthropic.claude-haiku-4-5-v1/reasoning',
      signature: signatureOf(thought),
    };
    const plain = `gw1.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    for (const forged of [plain, `${sealedText}A`, sealedText.replace(/.$/, ''), 'gw1.forged', signatureOf(thought)]) {
      expect(await goesOn(answer, forged)).toEqual([200, false, member, false]);
    }
  });
});

it('references to reasoning that the gateway handed out are left out of a relayed request, and reported', async () => {
  const input = [
    { type: 'item_reference', id: 'rs_gw_1' },
    { role: 'user', content: 'Hi.' },
  ];
  const response = await gateway.postTo('/responses', { model: 'relay/responses', max_output_tokens: 16, input });
  expect([response.status, response.headers.get('x-gw-left-out')]).toEqual([200, 'input[0]']);
  expect(JSON.stringify(gateway.simulator.calls.at(-1)?.body)).not.toContain('rs_gw_1');
});

it('a function answers with the thinking of a model of another format, sealed', async () => {
  const answer = await gateway.post({ model: 'gw/function/think', messages: [{ role: 'user', content: 'Hi.' }] });
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, expect.stringContaining('"signature":"gw1.')]);
});
