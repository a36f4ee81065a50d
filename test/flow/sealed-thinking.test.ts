// Thinking that crosses formats is sealed for the workspace that got it: nobody forges it or carries it to another workspace, and
// every process on the store knows what another one handed out.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { signatureOf } from '../../infra/local/simulator/signature.ts';
import { newKey } from '../support/gateway-file.ts';
import { dataLines, type Harness, type ServedGateway, startHarness } from '../support/harness.ts';

const thought = 'The user wants an answer. I should give a short one.';
const otherKey = newKey();
const model = 'on/claude';

let gateway: Harness;
let otherProcess: ServedGateway;
beforeAll(async () => {
  const more = { max_output_tokens: 8_192, supported_params: { tools: true } };
  const upstream = 'anthropic.claude-haiku-4-5-v1/reasoning';
  gateway = await startHarness({
    models: { [model]: [{ provider: 'converse', upstream, more }] },
    providers: { converse: { apis: ['converse'] } },
    moreWorkspaces: [{ id: 'other', credit_usd: '1', keys: [{ name: 'first', key: otherKey }] }],
  });
  otherProcess = await gateway.open();
});
afterAll(() => gateway.stop());

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into member by member.
type Any = any;

interface Client {
  readonly path: string;
  readonly first: Any;
  /** What carries the thinking of an answer. */
  readonly sealedIn: (answer: Any) => string;
  /** The conversation with that in it. */
  readonly goesOn: (answer: Any, sealed: string) => Any;
  /** Where it stands. */
  readonly member: string;
  readonly endOf: (text: string) => Any;
}

const eventsIn = (text: string): Any[] => dataLines(text).map((line) => JSON.parse(line));

const clients: Readonly<Record<string, Client>> = {
  Messages: {
    path: '/messages',
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

  async function answered(stream = false): Promise<Any> {
    const response = await ask({ stream });
    expect(response.status).toBe(200);
    return stream ? client.endOf(await response.text()) : response.json();
  }

  async function goesOn(answer: Any, sealed: string, at?: ServedGateway, key?: string) {
    const response = await ask(client.goesOn(answer, sealed), at, key);
    const text = await response.text();
    return [
      response.status,
      sentOf().includes(signatureOf(thought)),
      response.headers.get('x-gw-left-out'),
      text.includes('gw1.forged'),
    ];
  }

  it('comes back to the model that made it, in the same process and in another', async () => {
    const whole = await answered();
    for (const answer of [whole, { ...whole, ...(await answered(true)) }]) {
      const sealed = client.sealedIn(answer);
      for (const at of [gateway, otherProcess]) {
        expect(await goesOn(whole, sealed, at)).toEqual([200, true, null, false]);
      }
    }
  });

  it('is left out and told where another workspace brings it', async () => {
    const answer = await answered();
    expect(await goesOn(answer, client.sealedIn(answer), gateway, otherKey)).toEqual([200, false, member, false]);
  });

  it('is left out and told where it is forged, however it is made', async () => {
    const answer = await answered();
    const sealed = client.sealedIn(answer);
    const claims = {
      origin: 'anthropic-claude-v1',
      model: 'anthropic.claude-haiku-4-5-v1/reasoning',
      signature: signatureOf(thought),
    };
    const plain = `gw1.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    for (const forged of [plain, `${sealed}A`, sealed.replace(/.$/, ''), 'gw1.forged', signatureOf(thought)]) {
      expect(await goesOn(answer, forged)).toEqual([200, false, member, false]);
    }
  });
});
