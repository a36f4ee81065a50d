// Measures the longest turn of the event loop that one request costs, in processor time of its thread. Each length that
// a client chooses is doubled up to the limit of the body. A product of two lengths shows as a factor of four where a
// length doubles.
import type { BenchPlan } from '../bench-options.ts';
import { createClient } from '../measuring-client.ts';
import { atMost, type SectionReport } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

/** Maximum turn of a body of up to one mebibyte, and of any body. */
const turnMaxMs = { short: 50, long: 200 };
const shortMaxBytes = 1024 * 1024;
/** Maximum lengths of a body, without the JSON around the text. */
const charactersMax = 3_900_000;
const valuesMax = 90_000;
/** Number of calls of each size, so that no request is charged with a garbage collection. */
const callsOfEach = 3;

interface Length {
  readonly path: '/chat/completions' | '/messages' | '/messages/count_tokens' | '/responses' | '/embeddings';
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

const chat = (member: string, max: number, body: Length['body']): Length => ({
  path: '/chat/completions',
  member,
  max,
  body,
});
const messages = (member: string, max: number, body: Length['body']): Length => ({
  path: '/messages',
  member,
  max,
  body,
});
const counted = (member: string, max: number, body: Length['body']): Length => ({
  path: '/messages/count_tokens',
  member,
  max,
  body,
});
const responses = (member: string, max: number, body: Length['body']): Length => ({
  path: '/responses',
  member,
  max,
  body,
});
const embeddings = (member: string, max: number, body: Length['body']): Length => ({
  path: '/embeddings',
  member,
  max,
  body,
});

const lengths: readonly Length[] = [
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

function boundOf(path: Length['path']): object {
  if (path === '/embeddings') return {};
  return path === '/responses' ? { max_output_tokens: 16 } : { max_tokens: 16 };
}

export async function measureTurns(
  { gateway, keys }: TestBed,
  { rows: memberPart }: BenchPlan,
): Promise<SectionReport> {
  const rows: (readonly [path: string, member: string, length: number, status: number, half: number, whole: number])[] =
    [];
  const longest = { short: 0, long: 0 };
  for (const { path, member, max, body } of lengths.filter((one) => one.member.includes(memberPart))) {
    const client = createClient({ ...gateway, path }, 1);
    let status = 0;
    /** Returns the shortest of several measurements. */
    const longestTurn = async (length: number): Promise<number> => {
      let least = Number.POSITIVE_INFINITY;
      const model = path === '/embeddings' ? models.vectors : models.seeing;
      const text = JSON.stringify({ model, ...boundOf(path), ...body(Math.floor(length)) });
      for (let index = 0; index < callsOfEach; index += 1) {
        await gateway.inspect({ watchesTurns: true });
        status = (await client.send({ key: keys.unlimited, body: text })).status;
        least = Math.min(least, (await gateway.inspect()).longestTurnMs);
      }
      const kind = Buffer.byteLength(text) > shortMaxBytes ? 'long' : 'short';
      longest[kind] = Math.max(longest[kind], least);
      return least;
    };
    const half = await longestTurn(max / 2);
    rows.push([path, member, max, status, half, await longestTurn(max)]);
    client.close();
  }
  const title =
    'Longest turn of one request by what of it is long, ms of processor time of the thread, the least of three calls';
  return {
    tables: [{ title, columns: ['path', 'what', 'length', 'status', 'at half', 'whole'], rows }],
    targets: [
      atMost('longest turn of a request up to 1 MiB', longest.short, turnMaxMs.short, ' ms'),
      atMost('longest turn of a longer one', longest.long, turnMaxMs.long, ' ms'),
    ],
  };
}
