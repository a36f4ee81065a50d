// Features that may cost more than their tokens, on every interface: none passes without the operator's consent, and
// tools that clients run themselves need no consent.
import { describe, expect, it } from '#jest';
import { chatCompletions } from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { type ClientInterface, openImageMeasure, sumOfMedia } from '../../../shared/protocol/interfaces/index.ts';
import { messages } from '../../../shared/protocol/interfaces/messages/index.ts';
import { mediaOf } from '../../../shared/protocol/interfaces/messages/message-media.ts';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { openPixelReader } from '../../../shared/protocol/wire/index.ts';
import { png } from '../../support/png.ts';
import { requestOf } from './request-of.ts';

type Json = Record<string, unknown>;

const interfaces: Readonly<Record<string, ClientInterface>> = { chat: chatCompletions, messages, responses };
const everywhere = Object.keys(interfaces);

/** Returns each extra that the request needs, with the field or the header that asks for it. */
function extrasOf(name: string, members: Json, betas?: string): string[] {
  const extras = requestOf(interfaces[name] as ClientInterface, members, betas)
    .needs()
    .features.filter((feature) => 'extra' in feature);
  return extras.map((feature) => `${feature.extra} ${'member' in feature ? feature.member : feature.header}`);
}

const tool = (...tools: unknown[]) => ({ tools });
const namespace = (...tools: unknown[]) => ({ type: 'namespace', name: 'n', tools });
const skills = { skills: [{ type: 'anthropic', skill_id: 'pptx' }] };

const everywhereDearer: readonly (readonly [string, Json, string])[] = [
  ['web_search', tool({ type: 'web_search' }), 'tools[0]'],
  ['web_search', tool({ type: 'web_search_preview_2025_03_11' }), 'tools[0]'],
  ['web_search', tool({ type: 'web_search_20260209', name: 'web_search' }), 'tools[0]'],
  ['web_search', tool({ type: 'function', name: 'f' }, { type: 'openrouter:web_search' }), 'tools[1]'],
  ['web_search', tool({ type: 'builtin_function', function: { name: '$web_search' } }), 'tools[0]'],
  ['web_search', tool({ type: 'function', function: { name: '$web_search' } }), 'tools[0]'],
  ['web_search', tool(namespace({ type: 'function', name: 'f' }, namespace({ type: 'web_search' }))), 'tools[0]'],
  ['web_search', tool({ type: 'x_search' }), 'tools[0]'],
  ['web_search', { search_parameters: { mode: 'auto' } }, 'search_parameters'],
  ['web_search', { enable_search: true }, 'enable_search'],
  ['web_search', { web_search_options: {} }, 'web_search_options'],
  ['file_search', tool({ type: 'file_search', vector_store_ids: ['v'] }), 'tools[0]'],
  ['code_interpreter', tool({ type: 'code_interpreter', container: { type: 'auto' } }), 'tools[0]'],
  ['image_generation', tool({ type: 'image_generation' }), 'tools[0]'],
  ['mcp', tool({ type: 'mcp', server_label: 's' }), 'tools[0]'],
  ['mcp', tool({ type: 'mcp_toolset', mcp_server_name: 's' }), 'tools[0]'],
  ['web_fetch', tool({ type: 'web_fetch_20260309', name: 'web_fetch' }), 'tools[0]'],
  ['code_execution', tool({ type: 'code_execution_20260120', name: 'code_execution' }), 'tools[0]'],
  ['code_execution', { container: skills }, 'container'],
  ['advisor', tool({ type: 'advisor_20260301', name: 'advisor', model: 'larger' }), 'tools[0]'],
  ['fallbacks', { fallbacks: [{ model: 'larger' }] }, 'fallbacks'],
  ['shell', tool({ type: 'shell', environment: { type: 'container_auto' } }), 'tools[0]'],
  ['shell', tool({ type: 'shell', environment: { type: 'container_reference', container_id: 'c' } }), 'tools[0]'],
  ['other_tools', tool({ type: 'hologram_20270101', name: 'hologram' }), 'tools[0]'],
  ['other_tools', tool({ googleSearch: {} }), 'tools[0]'],
  ['other_tools', tool({ type: 'functions', name: 'f' }), 'tools[0]'],
  ['plugins', { plugins: [{ id: 'web' }] }, 'plugins'],
  ['service_tier', { service_tier: 'priority' }, 'service_tier'],
  ['service_tier', { speed: 'fast' }, 'speed'],
  ['long_context', { anthropic_beta: ['context-1m-2025-08-07'] }, 'anthropic_beta'],
];

const inResponsesOnly: readonly (readonly [string, Json, string])[] = [
  ['prompt', { prompt: { id: 'pmpt_1' } }, 'prompt'],
  [
    'web_search',
    { input: [{ type: 'tool_search_output', tools: [namespace({ type: 'web_search' })] }] },
    'input[0].tools[0]',
  ],
  [
    'code_interpreter',
    {
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'additional_tools', tools: [{ type: 'code_interpreter' }] },
      ],
    },
    'input[1].tools[0]',
  ],
];

describe('a request', () => {
  it.each(everywhereDearer)('needs the extra %s for %j, whatever the interface', (extra, members, member) => {
    for (const name of everywhere) expect([name, extrasOf(name, members)]).toEqual([name, [`${extra} ${member}`]]);
  });

  it.each(inResponsesOnly)('of Responses needs the extra %s for %j', (extra, members, member) => {
    expect(extrasOf('responses', members)).toEqual([`${extra} ${member}`]);
  });

  it('needs an extra for a beta that moves the window or adds a model, and for no other', () => {
    const betas = 'claude-code-20250219, context-1m-2025-08-07,effort-2025-11-24,advisor-tool-2026-03-01';
    const extras = ['long_context anthropic-beta', 'advisor anthropic-beta'];
    for (const name of ['messages', 'responses']) expect(extrasOf(name, {}, betas)).toEqual(extras);
    expect(extrasOf('messages', {}, 'context-management-2025-06-27,never-heard-of-2027')).toEqual([]);
  });

  it('needs none for tools that the client runs, and for fields that ask for nothing', () => {
    const clientTools = [
      { type: 'function', name: 'f', function: { name: 'f' }, parameters: {} },
      { type: 'custom', name: 'apply_patch' },
      { name: 'get_weather', input_schema: { type: 'object' } },
      { type: null, name: 'get_time' },
      namespace({ type: 'function', name: 'f' }),
      ...['local_shell', 'apply_patch', 'computer', 'computer_use_preview', 'computer-preview', 'tool_search'],
      ...[
        'bash_20250124',
        'text_editor_20250728',
        'memory_20250818',
        'computer_20251124',
        'tool_search_tool_bm25_20251119',
      ],
      'shell',
    ].map((one) => (typeof one === 'string' ? { type: one, name: 'n' } : one));
    const shell = { type: 'shell', environment: { type: 'local', skills: [] } };
    const idle = {
      ...{ plugins: [], mcp_servers: [], web_search_options: null, enable_search: false, container: null },
      ...{ search_parameters: { mode: 'off' }, fallbacks: [], speed: 'standard', service_tier: 'flex' },
    };
    for (const name of everywhere) {
      expect([name, extrasOf(name, { tools: [...clientTools, shell], ...idle })]).toEqual([name, []]);
    }
  });

  it('that declares ten thousand tools of the provider names each extra once', () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => ({ type: index % 2 === 0 ? 'web_search' : 'mcp' }));
    expect(extrasOf('responses', { tools })).toEqual(['web_search tools[0]', 'mcp tools[1]']);
  });
});

describe('an image', () => {
  const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
  const segment = (marker: string, bytes: number) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes + 2);
    return Buffer.concat([hex(`ff ${marker}`), length, Buffer.alloc(bytes, 0xff)]);
  };
  const webp = (kind: string, sizes: string) =>
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), Buffer.from(kind), hex(`00000000 ${sizes}`), Buffer.alloc(4)]);
  const frame = (width: string, height: string) => hex(`ff c2 0011 08 ${height} ${width} 03 00000000`);
  const jpeg = (...parts: Buffer[]) => Buffer.concat([hex('ffd8'), ...parts]);
  const dataOf = (url: string) => Buffer.from(url.split(',')[1] ?? '', 'base64');

  const images: readonly (readonly [string, Buffer])[] = [
    ['PNG', dataOf(png(640, 480))],
    ['GIF', Buffer.concat([Buffer.from('GIF89a'), hex('8002 e001 000000')])],
    ['WebP', webp('VP8 ', '000000 9d012a 8002 e001')],
    ['lossless WebP', webp('VP8L', '2f 7fc27700 0000000000')],
    ['extended WebP', webp('VP8X', '00000000 7f0200 df0100')],
    ['JPEG', jpeg(segment('e0', 14), segment('e1', 60_000), segment('c4', 30), frame('0280', '01e0'))],
  ];

  const pixelsOf = (data: string) => openPixelReader()(data);
  const measureImage = (image: Parameters<ReturnType<typeof openImageMeasure>>[0]) => openImageMeasure()(image);

  describe('the size of an image', () => {
    it('is read of as many images as a provider takes in a request, and those after them count as the largest', () => {
      const read = openPixelReader();
      const data = dataOf(png(640, 480)).toString('base64');
      const sizes = Array.from({ length: 19_000 }, () => read(data));
      expect(sizes.filter((size) => size !== undefined)).toHaveLength(1_500);
      expect(sizes.slice(0, 1_500)).not.toContain(undefined);
    });

    it.each(images)('is read from the first bytes of a %s, and is unknown if they end too early', (_name, bytes) => {
      expect(pixelsOf(bytes.toString('base64'))).toEqual({ width: 640, height: 480 });
      for (let length = 0; length < bytes.length; length += Math.ceil(bytes.length / 200)) {
        const pixels = pixelsOf(bytes.subarray(0, length).toString('base64'));
        if (pixels !== undefined) expect(pixels).toEqual({ width: 640, height: 480 });
      }
    });

    it.each([
      ['a PNG of no width', dataOf(png(0, 480))],
      ['a PNG of nothing', dataOf(png(0, 0))],
      ['a JPEG of no height', jpeg(frame('0280', '0000'))],
      ['a WebP of nothing', webp('VP8 ', '000000 9d012a 0000 0000')],
      ['a JPEG of empty segments without end', jpeg(...new Array<Buffer>(40_000).fill(segment('e1', 0)))],
      [
        'a JPEG of more segments than one has',
        jpeg(...new Array<Buffer>(20_000).fill(segment('e1', 0)), frame('0280', '01e0')),
      ],
      ['a JPEG whose segments lead nowhere', jpeg(hex('ffe1 0000 00112233445566778899'))],
      ['another format', Buffer.from('II*\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0')],
      ['no bytes', Buffer.alloc(0)],
    ])('is unknown for %s, which counts as the largest', (_name, bytes) => {
      const data = bytes.toString('base64');
      expect(pixelsOf(data)).toBeUndefined();
      const largest = sumOfMedia([measureImage({ url: 'https://images.example/1.png', detail: 'auto' })]).tokens;
      expect(sumOfMedia([measureImage({ url: `data:image/png;base64,${data}`, detail: 'auto' })]).tokens).toBe(largest);
      const source = { type: 'base64', media_type: 'image/png', data };
      expect(mediaOf([{ role: 'user', content: [{ type: 'image', source }] }]).tokens).toBe(4_784);
    });
  });
});

describe('what a message brings beside its text', () => {
  const image = (url: string) => ({ type: 'image', source: { type: 'base64', data: url.split(',')[1] } });
  const small = image(png(280, 140, 90_000));
  const remote = { type: 'image', source: { type: 'url', url: 'https://pictures.example/1.png' } };
  const document = (source: object) => ({ type: 'document', source });
  const toolResult = (part: object) => ({ type: 'tool_result', tool_use_id: 't', content: [part] });

  it.each<[string, object, number | undefined]>([
    ['an image, by its patches of 28 pixels and not by its bytes', small, 50],
    ['one that a tool gave', toolResult(small), 50],
    ['a large one', image(png(8_000, 8_000)), 4_784],
    ['one at a URL', remote, 4_784],
    ['one inside a document that a tool gave', toolResult(document({ type: 'content', content: [remote] })), 4_784],
    ['a text', document({ type: 'text', media_type: 'text/plain', data: 'short' }), 0],
    [
      'a PDF, which may fill the context',
      document({ type: 'base64', media_type: 'application/pdf', data: 'J' }),
      undefined,
    ],
  ])('is reserved for: %s', (_what, part, tokens) => {
    expect(mediaOf([{ role: 'user', content: [part] }]).tokens).toBe(tokens);
  });
});
