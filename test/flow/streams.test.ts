import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { unknownMembersTexts } from '../../infra/local/simulator/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { contentOf, readStream } from '../support/read-stream.ts';

// The gateway always asks the provider for usage.
const { data } = unknownMembersTexts('chat-completions', { stream_options: { include_usage: true } });
const oddChunks = data.slice(0, -2);
const oddUsageChunk = data.at(-2);

const upstreams = [
  'echo',
  'unknown-members',
  'usage:1000:500',
  'usage-on-content',
  'no-usage',
  'zero-usage',
  'wrong-usage:negative',
  'reasoning',
  'refusal',
  'tools',
  'two-choices',
  'no-done',
  'done-without-finish',
  'crlf',
  'cr',
  'comments',
  'sse-fields',
  'multi-line-data',
  'huge:300000',
  'huge-event:300000',
];

describe('a stream', () => {
  let gateway: Harness;

  beforeAll(async () => {
    gateway = await startHarness({
      models: Object.fromEntries(upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]])),
    });
  });
  afterAll(() => gateway.stop());

  const stream = async (model: string, more = {}) =>
    readStream(await gateway.post(hello(`acme/${model}`, { stream: true, ...more })));

  it('carries every chunk of the provider byte for byte, and hides the usage that was not asked for', async () => {
    for (const include of [false, null]) {
      expect((await stream('unknown-members', { usage: { include } })).lines).toEqual(oddChunks);
    }
    const { lines, headers } = await stream('unknown-members');
    expect(lines).toEqual(oddChunks);
    expect(headers.get('cache-control')).toContain('no-transform');
    expect(headers.get('x-gw-model')).toBe('acme/unknown-members');
    expect(headers.get('x-gw-provider')).toBe('acme');
    expect(headers.get('content-length')).toBeNull();
    expect(headers.get('content-encoding')).toBeNull();
  });

  it('carries the usage chunk of the provider, unchanged, to a client that asked for it', async () => {
    const { lines } = await stream('unknown-members', { stream_options: { include_usage: true } });
    expect(lines).toEqual([...oddChunks, oddUsageChunk]);
  });

  it.each(['no-usage', 'echo'])(
    'has one chunk of estimated usage for a client that asked for usage, if its provider sends none: %s',
    async (upstream) => {
      const request = { stream_options: { include_usage: true }, cache: { namespace: `usage ${upstream}` } };
      for (const cache of ['MISS', 'HIT']) {
        const { lines, headers } = await stream(upstream, request);
        expect(headers.get('x-gw-cache')).toBe(cache);
        const chunks = lines.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line));
        const reports = chunks.filter(({ usage }) => (usage ?? null) !== null);
        expect(reports).toEqual([chunks.at(-1)]);
        const { choices, usage } = reports[0];
        expect(choices).toEqual([]);
        expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
        expect(usage.completion_tokens).toBeGreaterThan(0);
        expect(usage.estimated ?? false).toBe(upstream === 'no-usage');
        await gateway.settled();
      }
      const { lines } = await stream(upstream);
      expect(lines.some((line) => line.includes('"estimated":true'))).toBe(false);
    },
  );

  it.each([{}, { stream_options: { include_usage: true } }])(
    'ends with one chunk of ours alone for a client that asked for merged usage: clients add up what they see: %j',
    async (more) => {
      const { lines } = await stream('unknown-members', { usage: { include: true }, ...more });
      expect(lines.slice(0, -1)).toEqual(oddChunks);
      const usageChunk = JSON.parse(lines.at(-1) ?? '');
      expect(usageChunk).toEqual({
        id: 'odd-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'odd',
        choices: [],
        usage: expect.objectContaining({
          prompt_tokens: 7,
          completion_tokens: 5,
          cost: 0.000017,
          cost_usd: '0.000017',
        }),
      });
    },
  );

  it.each(['usage:1000:500', 'usage-on-content', 'no-usage', 'zero-usage', 'wrong-usage:negative', 'reasoning'])(
    'costs what the same JSON answer costs, with the same members: %s',
    async (model) => {
      const { lines } = await stream(model, { usage: { include: true } });
      const streamUsage = JSON.parse(lines.at(-1) ?? '').usage;
      const answer = (await (await gateway.post(hello(`acme/${model}`))).json()) as { usage: Record<string, unknown> };
      expect(Object.keys(streamUsage).toSorted()).toEqual(Object.keys(answer.usage).toSorted());
      // Estimates count the bytes of two requests, which differ by the fields that ask for the stream.
      if (streamUsage.estimated === true) expect(answer.usage.estimated).toBe(true);
      else expect(streamUsage).toEqual(answer.usage);
    },
  );

  it('leaves usage on a chunk with content where the provider put it', async () => {
    const { lines } = await stream('usage-on-content');
    const last = JSON.parse(lines.at(-1) ?? '');
    expect(last.usage).toMatchObject({ prompt_tokens: expect.any(Number) });
    expect(last.choices[0]).toMatchObject({ finish_reason: 'stop', delta: { content: expect.any(String) } });
  });

  it.each(['crlf', 'cr', 'comments', 'sse-fields', 'multi-line-data', 'no-done', 'done-without-finish'])(
    'has the same content and form whatever the form of the provider’s: %s',
    async (model) => {
      const { lines, text } = await stream(model);
      const plain = await stream('echo');
      expect(contentOf(lines).replace(model.split(':')[0] ?? '', 'echo')).toBe(contentOf(plain.lines));
      expect(text).not.toMatch(/\r|^event:|^id:|^retry:|still here/m);
      expect(text).not.toContain('"error"');
    },
  );

  it.each(['huge:300000', 'huge-event:300000'])('may be large: %s', async (model) => {
    const { lines } = await stream(model);
    expect(contentOf(lines)).toHaveLength(300_000);
    expect(lines.length < 10).toBe(model.startsWith('huge-event'));
  });

  it('carries reasoning, refusals, tool calls and several choices', async () => {
    const tool = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } };
    expect((await stream('reasoning')).text).toContain('reasoning_content');
    expect((await stream('refusal')).text).toContain('"refusal":"');
    expect((await stream('tools', { tools: [tool] })).text).toContain('"finish_reason":"tool_calls"');
    const indexes = (await stream('two-choices')).lines.flatMap((line) =>
      JSON.parse(line).choices.map(({ index }: { index: number }) => index),
    );
    expect(new Set(indexes)).toEqual(new Set([0, 1]));
  });

  it('carries no reasoning if it is excluded, no chunk that would be empty, and all the rest', async () => {
    for (const members of [{}, { cache: {} }, { cache: {} }]) {
      const { lines, headers } = await stream('reasoning', { reasoning: { exclude: true }, ...members });
      expect(lines.join('')).not.toContain('reasoning_content');
      const deltas = lines.map((line) => JSON.parse(line).choices[0]);
      expect(
        deltas.filter(({ delta, finish_reason }) => finish_reason === null && Object.keys(delta).length === 0),
      ).toEqual([]);
      expect(contentOf(lines)).toContain('simulated by the');
      expect(deltas.at(-1)?.finish_reason).toBe('stop');
      expect(headers.get('x-gw-model')).toBe('acme/reasoning');
    }
  });
});
