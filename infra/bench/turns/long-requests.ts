// Makes requests whose lengths their clients choose. Each request is as long as a body may be, in one length. A product
// of two lengths shows as a factor of four where a length doubles.
import type { ProviderApi } from '../../../shared/foundation/constants/index.ts';
import type { BenchClientName } from './long-answers.ts';

/** Maximum lengths of a body, without the JSON around the text. */
const charactersMax = 3_900_000;
const valuesMax = 90_000;
/** A request whose length its client chooses. */
export interface LongRequest {
  /** Interface of the client, and of the provider; two that differ need a translation. */
  readonly from: BenchClientName;
  readonly to: ProviderApi;
  readonly member: string;
  readonly max: number;
  readonly body: (length: number) => object;
}

const each = <One>(count: number, make: (at: number) => One): One[] =>
  Array.from({ length: count }, (_, at) => make(at));
const user = (content: unknown) => ({ role: 'user', content });
const messagesOf = (content: unknown) => ({ messages: [user(content)] });
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';
const schema = { type: 'object', properties: {} };
const chatTool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, parameters: schema, ...more },
});
const forged = (length: number) => `gw1.${'A'.repeat(43)}.${'W10'.repeat(length / 3)}`;
const calls = (arguments_: string) => ({
  messages: [
    user('Hi.'),
    { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: arguments_ } }] },
    { role: 'tool', tool_call_id: 'a', content: 'r' },
  ],
});

type Row = (member: string, max: number, body: LongRequest['body']) => LongRequest;
const rowOf =
  (from: BenchClientName, to: ProviderApi = 'chat-completions'): Row =>
  (member, max, body) => ({ from, to, member, max, body });
const [chat, messages, counted, responses] = [
  rowOf('chat-completions'),
  rowOf('messages'),
  rowOf('count-tokens'),
  rowOf('responses'),
];
const embeddings = rowOf('embeddings', 'embeddings');
const [gemini, bedrock, invoked] = [rowOf('generate-content'), rowOf('converse'), rowOf('invoke')];

const usualRequests: readonly LongRequest[] = [
  chat('a text', charactersMax, (length) => messagesOf('a '.repeat(length / 2))),
  chat('messages', valuesMax / 3, (length) => ({ messages: each(length, () => user('a')) })),
  chat('parts', valuesMax / 3, (length) => messagesOf(each(length, () => ({ type: 'text', text: 'a' })))),
  chat('images', 19_000, (length) =>
    messagesOf(each(length, () => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }))),
  ),
  chat('drawings', 19_000, (length) =>
    messagesOf(each(length, () => ({ type: 'image_url', image_url: { url: 'data:image/svg+xml,<svg/>' } }))),
  ),
  chat('tools', valuesMax / 8, (length) => ({ ...messagesOf('Hi.'), tools: each(length, (at) => chatTool(`f${at}`)) })),
  chat('the name of a tool', charactersMax, (length) => ({
    ...messagesOf('Hi.'),
    tools: [chatTool('f'.repeat(length))],
  })),
  chat('arguments', charactersMax, (length) => calls(`[${'[],'.repeat(length / 3)}0]`)),
  chat('the length of stops', charactersMax, (length) => ({
    ...messagesOf('Hi.'),
    stop: each(64, (at) => `${'a'.repeat(length / 64)}${at}`),
  })),
  chat('the number of stops', valuesMax, (length) => ({ ...messagesOf('Hi.'), stop: each(length, (at) => `s${at}`) })),
  chat('details of thinking', valuesMax / 5, (length) => ({
    messages: [
      user('Hi.'),
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: each(length, () => ({ type: 'reasoning.text', text: 'a' })),
      },
      user('And?'),
    ],
  })),
  chat('messages without fields', 45_000, (length) => ({ messages: each(length, () => ({ role: 'user' })) })),
  chat('tools without fields', valuesMax, (length) => ({ ...messagesOf('Hi.'), tools: each(length, () => ({})) })),
  chat('short messages', 24_000, (length) => ({ messages: each(length, () => user('a')) })),
  chat('members of the body', valuesMax, (length) => ({
    ...messagesOf('Hi.'),
    ...Object.fromEntries(each(length, (at) => [`m${at}`, 1])),
  })),
  messages('instructions', charactersMax, (length) => ({ ...messagesOf('Hi.'), system: 'a '.repeat(length / 2) })),
  messages('blocks', valuesMax / 3, (length) => messagesOf(each(length, () => ({ type: 'text', text: 'a' })))),
  messages('a forged envelope', charactersMax, (length) => ({
    messages: [
      user('Hi.'),
      { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: forged(length) }] },
      user('And?'),
    ],
  })),
  messages('forged envelopes', valuesMax / 5, (length) => ({
    messages: [
      user('Hi.'),
      { role: 'assistant', content: each(length, () => ({ type: 'thinking', thinking: '', signature: forged(30) })) },
      user('And?'),
    ],
  })),
  messages('results', valuesMax / 10, (length) => ({
    messages: [
      user('Hi.'),
      { role: 'assistant', content: each(length, (at) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })) },
      user(each(length, (at) => ({ type: 'tool_result', tool_use_id: `c${at}`, content: 'r' }))),
    ],
  })),
  counted('a text', charactersMax, (length) => messagesOf('a1 '.repeat(length / 3))),
  counted('images', 14_000, (length) =>
    messagesOf(each(length, () => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }))),
  ),
  responses('a text', charactersMax, (length) => ({ input: 'a '.repeat(length / 2) })),
  responses('items', valuesMax / 3, (length) => ({ input: each(length, () => user('a')) })),
  responses('references', valuesMax / 3, (length) => ({ input: each(length, (at) => ({ id: `msg_${at}` })) })),
  responses('tools', valuesMax / 5, (length) => ({
    input: 'Hi.',
    tools: each(length, (at) => ({ type: 'function', name: `f${at}`, parameters: {} })),
  })),
  responses('an encrypted item', charactersMax, (length) => ({
    input: [user('Hi.'), { type: 'reasoning', summary: [], encrypted_content: forged(length) }, user('And?')],
  })),
  responses('own items', valuesMax / 5, (length) => ({
    input: each(length, (at) => ({ type: 'message', id: `msg_gw_a_${at}`, role: 'assistant', content: 'a' })),
  })),
  responses('items beside an own one', valuesMax / 4, (length) => ({
    input: [{ type: 'item_reference', id: 'rs_gw_a_0' }, ...each(length, () => user('a'))],
  })),
  embeddings('a text', charactersMax, (length) => ({ input: 'a '.repeat(length / 2) })),
  embeddings('texts', 2_048, (length) => ({ input: each(length, () => 'a '.repeat(900)) })),
  embeddings('more texts than may be', valuesMax, (length) => ({ input: each(length, () => 'a') })),
  embeddings('tokens', valuesMax, (length) => ({ input: each(length, (at) => at) })),
  embeddings('lists of tokens', 2_048, (length) => ({ input: each(length, () => each(40, (at) => at)) })),
  embeddings('members of the body', valuesMax, (length) => ({
    input: 'a',
    ...Object.fromEntries(each(length, (at) => [`m${at}`, 1])),
  })),
];

const contentsOf = (...parts: readonly object[]) => ({ contents: [{ role: 'user', parts }] });
const converseOf = (...content: readonly object[]) => ({ messages: [user(content)] });
const turnsOf = <One>(length: number, make: (role: string) => One, answering: string) =>
  each(length, (at) => make(at % 2 === 0 ? 'user' : answering));
const inline = (data: string) => ({ inlineData: { mimeType: 'image/png', data } });
const image = (bytes: string) => ({ image: { format: 'png', source: { bytes } } });
/** A picture of this many characters of base64. */
const pictureOf = (length: number) => png + 'A'.repeat(Math.ceil(length / 4) * 4);

/** Small values, long text, escapes and images, as clients of Google and AWS send them. */
const cloudRequests: readonly LongRequest[] = [
  gemini('contents', valuesMax / 5, (length) => ({
    contents: turnsOf(length, (role) => ({ role, parts: [{ text: 'a' }] }), 'model'),
  })),
  gemini('parts', valuesMax / 2, (length) => contentsOf(...each(length, () => ({ text: 'a' })))),
  gemini('images', 19_000, (length) => contentsOf(...each(length, () => inline(png)))),
  gemini('an image', charactersMax, (length) => contentsOf(inline(pictureOf(length)))),
  gemini('CJK', charactersMax / 3, (length) => contentsOf({ text: '漢'.repeat(length) })),
  gemini('escapes in arguments', charactersMax / 6, (length) => ({
    contents: [
      { role: 'user', parts: [{ text: 'Hi.' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: '\u0001'.repeat(length) } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { a: 'r' } } }] },
    ],
  })),
  gemini('calls', valuesMax / 12, (length) => ({
    contents: [
      { role: 'user', parts: [{ text: 'Hi.' }] },
      { role: 'model', parts: each(length, (at) => ({ functionCall: { id: `c${at}`, name: 'f', args: {} } })) },
      { role: 'user', parts: each(length, (at) => ({ functionResponse: { id: `c${at}`, name: 'f', response: {} } })) },
    ],
  })),
  gemini('tools', valuesMax / 5, (length) => ({
    ...contentsOf({ text: 'Hi.' }),
    tools: [{ functionDeclarations: each(length, (at) => ({ name: `f${at}`, description: 'a' })) }],
  })),
  bedrock('messages', valuesMax / 5, (length) => ({
    messages: turnsOf(length, (role) => ({ role, content: [{ text: 'a' }] }), 'assistant'),
  })),
  bedrock('blocks', valuesMax / 2, (length) => converseOf(...each(length, () => ({ text: 'a' })))),
  bedrock('images', 19_000, (length) => converseOf(...each(length, () => image(png)))),
  bedrock('an image', charactersMax, (length) => converseOf(image(pictureOf(length)))),
  bedrock('CJK', charactersMax / 3, (length) => converseOf({ text: '漢'.repeat(length) })),
  bedrock('escapes in arguments', charactersMax / 6, (length) => ({
    messages: [
      user([{ text: 'Hi.' }]),
      {
        role: 'assistant',
        content: [{ toolUse: { toolUseId: 'a', name: 'f', input: { a: '\u0001'.repeat(length) } } }],
      },
      user([{ toolResult: { toolUseId: 'a', content: [{ text: 'r' }] } }]),
    ],
  })),
  bedrock('results', valuesMax / 12, (length) => ({
    messages: [
      user([{ text: 'Hi.' }]),
      {
        role: 'assistant',
        content: each(length, (at) => ({ toolUse: { toolUseId: `c${at}`, name: 'f', input: {} } })),
      },
      user(each(length, (at) => ({ toolResult: { toolUseId: `c${at}`, content: [{ text: 'r' }] } }))),
    ],
  })),
  bedrock('tools', valuesMax / 6, (length) => ({
    ...converseOf({ text: 'Hi.' }),
    toolConfig: { tools: each(length, (at) => ({ toolSpec: { name: `f${at}`, inputSchema: { json: {} } } })) },
  })),
  invoked('blocks', valuesMax / 3, (length) => messagesOf(each(length, () => ({ type: 'text', text: 'a' })))),
];

/** Requests that the packages of the other formats convert. */
const convertedRequests = (['messages', 'responses', 'generate-content', 'converse'] as const).flatMap((to) => {
  const translated = rowOf('chat-completions', to);
  return [
    translated('messages', valuesMax / 3, (length) => ({
      messages: turnsOf(length, (role) => ({ role, content: 'a' }), 'assistant'),
    })),
    translated('parts', valuesMax / 3, (length) => messagesOf(each(length, () => ({ type: 'text', text: 'a' })))),
    translated('images', 19_000, (length) =>
      messagesOf(each(length, () => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }))),
    ),
    translated('an image', charactersMax, (length) =>
      messagesOf([{ type: 'image_url', image_url: { url: `data:image/png;base64,${pictureOf(length)}` } }]),
    ),
    translated('calls', valuesMax / 12, (length) => ({
      messages: [
        user('Hi.'),
        {
          role: 'assistant',
          tool_calls: each(length, (at) => ({
            id: `c${at}`,
            type: 'function',
            function: { name: 'f', arguments: '{}' },
          })),
        },
        ...each(length, (at) => ({ role: 'tool', tool_call_id: `c${at}`, content: 'r' })),
      ],
    })),
    translated('escapes in arguments', charactersMax / 8, (length) =>
      calls(JSON.stringify({ a: '\u0001'.repeat(length) })),
    ),
    translated('arguments', charactersMax, (length) => calls(`[${'[],'.repeat(length / 3)}0]`)),
    translated('CJK', charactersMax / 3, (length) => messagesOf('漢'.repeat(length))),
    translated('tools', valuesMax / 8, (length) => ({
      ...messagesOf('Hi.'),
      tools: each(length, (at) => chatTool(`f${at}`)),
    })),
  ];
});

export const longRequests = [...usualRequests, ...cloudRequests, ...convertedRequests];
