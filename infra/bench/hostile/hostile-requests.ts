// Makes requests that no client should send. They are valid requests of each interface with some values replaced, and
// with headers of all kinds.
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { SeededRandom } from './seeded-random.ts';

export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';
const schema: Json = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const nested = (levels: number): Json => (levels === 0 ? 0 : [nested(levels - 1)]);

const oddValues: readonly ((random: SeededRandom) => Json)[] = [
  () => null,
  () => -1,
  () => 1e308,
  () => 2 ** 53 + 1,
  () => '',
  () => 'a',
  () => true,
  () => [],
  () => ({}),
  () => JSON.parse('{"__proto__":{"a":1},"constructor":1}') as Json,
  (random) => 'word '.repeat(random.below(20_000)),
  (random) => '\ud800'.repeat(1 + random.below(9)),
  (random) => nested(random.below(70)),
  (random) => Array.from({ length: random.below(4_000) }, () => ({ type: 'text', text: 'a' })),
  (random) => `gw1.${'A'.repeat(43)}.${'W10'.repeat(random.below(900))}`,
  () => 'msg_gw_00000000',
  () => `data:image/png;base64,${png}`,
  () => 'data:image/svg+xml,<svg width="1e9"/>',
  () => ({ type: 'file', file: { file_id: 'file-1' } }),
  () => ({ id: 'msg_1' }),
  () => ({ type: 'item_reference', id: 'rs_gw_1' }),
  () => ({ type: 'thinking', thinking: '', signature: 'gw1.a.b' }),
];

const texts = ['Hello', 'Which tool? Use the tool look.', 'Answer in JSON: {"a":1}', 'a '.repeat(3_000)];
const tools = { type: 'function', function: { name: 'look', parameters: schema } };
const imagePart = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
const source = { type: 'base64', media_type: 'image/png', data: png };

interface Interface {
  readonly paths: readonly string[];
  readonly members: (random: SeededRandom, text: string) => Record<string, Json>;
  /** Fields that are added at random. */
  readonly more: Readonly<Record<string, Json>>;
}

const interfaces: readonly Interface[] = [
  {
    paths: ['/v1/chat/completions', '/openai/v1/chat/completions'],
    members: (random, text) => ({
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: random.chance(0.3) ? [{ type: 'text', text }, imagePart] : text },
      ],
    }),
    more: {
      max_tokens: 64,
      tools: [tools],
      tool_choice: 'auto',
      response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
      stop: ['END', 'a'],
      n: 2,
      reasoning: { effort: 'low' },
      cache: { ttl: 60 },
      provider: { sort: 'price' },
      stream_options: { include_usage: true },
      usage: { include: true },
      logprobs: true,
    },
  },
  {
    paths: ['/v1/messages', '/v1/messages/count_tokens'],
    members: (random, text) => ({
      max_tokens: 64,
      system: 'Be short.',
      messages: [
        {
          role: 'user',
          content: random.chance(0.3)
            ? [
                { type: 'text', text },
                { type: 'image', source },
              ]
            : text,
        },
      ],
    }),
    more: {
      tools: [{ name: 'look', input_schema: schema }],
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      temperature: 0.5,
      thread: { type: 'continue', id: 'thread_1' },
      context_management: { edits: [] },
    },
  },
  {
    paths: ['/v1/responses', '/openai/v1/responses'],
    members: (random, text) => ({ input: random.chance(0.5) ? text : [{ role: 'user', content: text }] }),
    more: {
      max_output_tokens: 64,
      instructions: 'Be short.',
      tools: [
        { type: 'function', name: 'look', parameters: schema },
        { type: 'custom', name: 'write' },
      ],
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 's', schema } },
      store: false,
      include: ['reasoning.encrypted_content'],
      previous_response_id: 'resp_1',
      metadata: { a: 'b' },
    },
  },
  {
    paths: ['/v1/embeddings'],
    members: (random, text) => ({
      input: random.chance(0.5) ? text : Array.from({ length: random.below(40) }, () => text),
    }),
    more: { dimensions: 8, encoding_format: 'base64', cache: { ttl: 60 }, user: 'u' },
  },
];

const otherPaths = [
  '/v1/models',
  '/v1/key',
  '/v1/generation?id=1',
  '/v1/manage/workspaces',
  '/health',
  '/',
  '/%00',
  '/v1//x',
];

const headerValues: Readonly<Record<string, readonly string[]>> = {
  'x-gw-span-id': ['00f067aa0ba902b7', 'x'],
  'x-session-id': ['s', 'é'],
  traceparent: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '00-0-0-0'],
  'anthropic-version': ['2023-06-01', 'x'],
  'anthropic-beta': ['context-1m-2025-08-07', 'a,b,,'],
  'x-byok-key': ['sk-own', ''],
  'x-gw-error-format': ['openai', 'messages'],
  'x-gw-tags': ['a=b', '=;'],
  expect: ['100-continue', 'nothing'],
  'content-encoding': ['gzip', 'zstd', 'br', 'x'],
};

/** Returns a random request. `models` are the ids of a chat model and of an embedding model. */
export function hostileRequest(
  random: SeededRandom,
  {
    key,
    models,
    embeddingModels,
  }: { readonly key: string; readonly models: readonly string[]; readonly embeddingModels: readonly string[] },
): HostileRequest {
  const authorization = random.chance(0.97)
    ? `Bearer ${key}`
    : random.pick(['Bearer sk-gw-x', 'Basic x', `Bearer ${key}x`]);
  if (random.chance(0.04)) {
    return {
      method: random.pick(['GET', 'POST', 'PUT', 'HEAD']),
      path: random.pick(otherPaths),
      headers: { authorization },
      body: Buffer.alloc(0),
    };
  }
  const { paths, members, more } = random.pick(interfaces);
  const path = random.pick(paths);
  const body: Record<string, Json> = {
    model: random.pick(path.endsWith('/embeddings') ? embeddingModels : models),
    ...members(random, random.pick(texts)),
  };
  if (random.chance(0.5) && !path.endsWith('/embeddings')) body.stream = true;
  for (const [name, value] of Object.entries(more)) if (random.chance(0.2)) body[name] = structuredClone(value);
  for (let count = 0; random.chance(count === 0 ? 0.5 : 0.3); count += 1) replaceOne(body, random);
  const headers: Record<string, string> = { authorization, 'content-type': 'application/json' };
  if (random.chance(0.2)) headers['idempotency-key'] = `key-${random.below(40)}`;
  for (const [name, values] of Object.entries(headerValues))
    if (random.chance(0.04)) headers[name] = random.pick(values);
  const text = Buffer.from(JSON.stringify(body));
  return { method: 'POST', path, headers, body: packed(text, headers['content-encoding'], random) };
}

function packed(text: Buffer, encoding: string | undefined, random: SeededRandom): Buffer {
  if (encoding === undefined || random.chance(0.2)) return text;
  return encoding === 'zstd' ? zstdCompressSync(text) : gzipSync(text);
}

/** Replaces one value, anywhere inside `value`, by another value. */
function replaceOne(value: Json, random: SeededRandom): void {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Record<string, Json>;
  const names = Object.keys(holder);
  if (names.length === 0) return;
  const name = random.pick(names);
  const inner = holder[name] ?? null;
  const goesOn = typeof inner === 'object' && inner !== null && random.chance(0.7);
  if (goesOn) replaceOne(inner, random);
  else holder[name] = random.pick(oddValues)(random);
}
