// The hub's output for clients of Responses: their SDK builds the same response from a stream as from JSON, whatever
// the pieces in which a model sent it.
import fc from 'fast-check';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import { describe, expect, it } from '#jest';
import {
  type AnswerHead,
  type HubPart,
  type HubResult,
  oneCallAtATime,
  partsOfResult,
  readCall,
} from '../../../shared/protocol/hub/index.ts';
import { freeformReader } from '../../../shared/protocol/interfaces/responses/translation/freeform-input.ts';
import { responsesSource } from '../../../shared/protocol/interfaces/responses/translation/index.ts';
import { createEnvelopes, noEnvelopes } from '../../../shared/protocol/wire/index.ts';

type Content = HubResult['content'][number];

const head: AnswerHead = {
  id: '0a1b-2c3d',
  elapsedMs: () => 0,
  createdSeconds: 1,
  model: 'model',
  clientModel: 'asked',
  estimatedInputTokens: () => 7,
  origin: 'messages',
  readSigned: (metadata) => ({ ...metadata?.test }) as ReturnType<AnswerHead['readSigned']>,
  seal: createEnvelopes(Buffer.alloc(32), 'team-a').seal,
  refusalOf: (metadata) => metadata?.test?.refusal as string | undefined,
};
const body = {
  model: 'asked',
  input: 'Hello',
  tools: [
    { type: 'function', name: 'plain' },
    { type: 'custom', name: 'patch' },
    { type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'read' }] },
    { type: 'shell', environment: { type: 'local' } },
  ],
};
const open = () => readCall(responsesSource(body, noEnvelopes));
async function whole(result: HubResult) {
  const { write, answer } = (await open()).openFold(head);
  for (const part of partsOfResult(result)) write(part);
  const { whole, around, ...facts } = answer();
  return { ...facts, text: around?.(JSON.stringify(whole)) ?? '' };
}

const signed = fc.option(fc.string({ minLength: 1, maxLength: 8 }), { nil: undefined });
const metadataOf = (signature: string | undefined) =>
  signature === undefined ? {} : { providerMetadata: { test: { signature } } };
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const input = fc.oneof(
  text.map((value) => JSON.stringify({ input: value })),
  text.map((value) => JSON.stringify({ commands: [value], timeout_ms: 5 })),
  text.map((value) => ` { "input" : ${JSON.stringify(value).replaceAll('a', '\\u0061')} } `),
  text,
);
const toolName = fc.constantFrom('plain', 'patch', 'mcp__read', 'shell', 'unknown');

const part: fc.Arbitrary<Content> = fc.oneof(
  // Signed texts are left out, because JSON has the signature before the text, which a stream does not know yet;
  // signed-texts.test.ts covers them.
  text.map((one) => ({ type: 'text', text: one }) as const),
  fc
    .record({ text, signed })
    .map(({ text: content, signed: one }) => ({ type: 'reasoning', text: content, ...metadataOf(one) }) as const),
  fc
    .record({ toolName, input, signed, toolCallId: fc.uuid() })
    .map(({ signed: one, ...call }) => ({ type: 'tool-call', ...call, ...metadataOf(one) }) as const),
  fc.constant({ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } } as const),
);

/** Returns the pieces of a text, cut to these lengths. */
function pieces(whole: string, cuts: readonly number[]): string[] {
  const characters = [...whole];
  return [...cuts.map((cut) => characters.splice(0, cut).join('')), characters.join('')];
}

function partsOf(one: Content, index: number, cuts: readonly number[]): HubPart[] {
  const id = one.type === 'tool-call' ? one.toolCallId : String(index);
  const metadata = 'providerMetadata' in one && one.providerMetadata ? { providerMetadata: one.providerMetadata } : {};
  if (one.type === 'text' || one.type === 'reasoning') {
    return [
      { type: `${one.type}-start`, id },
      ...pieces(one.text, cuts).map((delta) => ({ type: `${one.type}-delta`, id, delta }) as const),
      { type: `${one.type}-end`, id, ...metadata },
    ] as HubPart[];
  }
  if (one.type !== 'tool-call') return [one as HubPart];
  return [
    { type: 'tool-input-start', id, toolName: one.toolName, ...metadata },
    ...pieces(one.input, cuts).map((delta) => ({ type: 'tool-input-delta', id, delta }) as const),
    { type: 'tool-input-end', id },
    one,
  ];
}

/** Returns the parts of a stream in which consecutive calls are sent in alternation, as some models do. */
function interleaved(content: readonly Content[], cuts: readonly number[]): HubPart[] {
  const parts: HubPart[] = [];
  let calls: HubPart[][] = [];
  const flush = () => {
    for (let at = 0; calls.some((call) => at < call.length); at += 1) {
      parts.push(...calls.flatMap((call) => call.slice(at, at + 1)));
    }
    calls = [];
  };
  for (const [index, one] of content.entries()) {
    if (one.type === 'tool-call') calls.push(partsOf(one, index, cuts));
    else {
      flush();
      parts.push(...partsOf(one, index, cuts));
    }
  }
  flush();
  return parts;
}

const reasons = ['stop', 'tool-calls', 'length', 'content-filter'] as const;
const usage = (isReported: boolean): HubResult['usage'] => ({
  inputTokens: { total: isReported ? 9 : undefined, noCache: undefined, cacheRead: 2, cacheWrite: undefined },
  outputTokens: { total: isReported ? 5 : undefined, text: undefined, reasoning: 3 },
});

const addedBySdk = new Set(['output_text', 'output_parsed', 'parsed', 'parsed_arguments']);

async function put(texts: readonly string[]) {
  const bytes = new ReadableStream({
    start(controller) {
      for (const one of texts) controller.enqueue(new TextEncoder().encode(`${one}\n`));
      controller.close();
    },
  });
  const response = await ResponseStream.fromReadableStream(bytes).finalResponse();
  return JSON.parse(JSON.stringify(response, (name, value) => (addedBySdk.has(name) ? undefined : value)));
}

// biome-ignore lint/suspicious/noExplicitAny: events are looked into field by field.
type Event = Record<string, any>;
/** Checks that every event of a part comes between the start of its item and its end. */
function expectOneItemAtATime(events: readonly Event[]): void {
  let open: unknown;
  let next = 0;
  for (const { type, item, item_id: id, output_index: place } of events) {
    if (type === 'response.output_item.added') {
      expect([open, place]).toEqual([undefined, next]);
      open = item?.id;
      next += 1;
    } else if (type === 'response.output_item.done') {
      expect([item?.id, place]).toEqual([open, next - 1]);
      open = undefined;
    } else if (id !== undefined) expect(id).toBe(open);
  }
  expect(open).toBeUndefined();
}

describe('a stream of a translated response', () => {
  it('is put together by the SDK of its clients to what JSON says, in events that keep their order and leave no number out', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 5 }),
        fc.array(fc.nat(6), { maxLength: 4 }),
        fc.constantFrom(...reasons),
        fc.boolean(),
        fc.boolean(),
        async (content, cuts, unified, isReported, isExplained) => {
          const end = {
            finishReason: { unified, raw: unified },
            usage: usage(isReported),
            ...(isExplained ? { providerMetadata: { test: { refusal: 'No.' } } } : {}),
          };
          const json = await whole({ content, warnings: [], ...end });
          const write = (await open()).openWriter(head);
          const events = [...interleaved(content, cuts), { type: 'finish', ...end } as const]
            .flatMap(oneCallAtATime())
            .flatMap(write);
          const read = events.map(({ text: one }) => JSON.parse(one));
          expect(read.map(({ sequence_number: number }) => number)).toEqual(read.map((_one, index) => index));
          expect(events.map(({ name }) => name)).toEqual(read.map(({ type }) => type));
          expectOneItemAtATime(read);
          const { status } = JSON.parse(json.text);
          expect([...read.slice(0, 2), read.at(-1)].map(({ type }) => type)).toEqual(
            ['created', 'in_progress', status].map((stage) => `response.${stage}`),
          );
          // The field is required, even before there is a usage.
          expect(read[0].response.usage).toBeNull();
          expect(events.filter(({ details }) => details.isLast)).toEqual([events.at(-1)]);
          expect(await put(events.map(({ text: one }) => one))).toEqual(JSON.parse(json.text));
          const last = events.at(-1)?.details;
          expect([last?.usage, last?.finishReasons]).toEqual([json.usage, json.finishReasons]);
          expect(events.reduce((sum, { details }) => sum + details.outputBytes, 0)).toBeGreaterThanOrEqual(
            Buffer.byteLength(content.map((one) => ('text' in one ? one.text : '')).join('')),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});

const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

describe('the input of a tool that takes free text', () => {
  it('is what the model wrote into the one text of the function, in whatever pieces it comes', () => {
    const character = fc.constantFrom('a', '"', '\\', '\n', '\u0000', 'é', '😀', '}');
    fc.assert(
      fc.property(fc.string({ unit: character }), fc.array(fc.nat(9)), fc.boolean(), (value, cuts, isAscii) => {
        const jsonText = JSON.stringify({ input: value });
        const { add, end } = freeformReader();
        const outputs = pieces(isAscii ? jsonText.replaceAll(/[^ -~]/g, escapeOf) : jsonText, cuts).map(add);
        expect(outputs.join('') + end()).toBe(value);
        // No piece ends within a surrogate pair.
        expect(outputs.filter((piece) => /[\uD800-\uDBFF]$/.test(piece))).toEqual([]);
      }),
    );
  });

  it('is the input of its call, which others get as what it is to them', async () => {
    const content = ['patch', 'mcp__read', 'plain'].map(
      (toolName) => ({ type: 'tool-call', toolCallId: toolName, toolName, input: '{"input":"x"}' }) as const,
    );
    const end = { finishReason: { unified: 'tool-calls', raw: undefined }, usage: usage(true) } as const;
    const { text: json } = await whole({ content, warnings: [], ...end });
    expect(JSON.parse(json).output).toMatchObject([
      { type: 'custom_tool_call', name: 'patch', input: 'x' },
      { type: 'function_call', namespace: 'mcp', name: 'read', arguments: '{"input":"x"}' },
      { type: 'function_call', name: 'plain', arguments: '{"input":"x"}' },
    ]);
  });

  it.each([
    ['the text itself, where the model wrote no JSON', '*** Begin Patch', '*** Begin Patch'],
    ['its member, behind another one', '{"note":1,"input":"x"}', 'x'],
    ['all of it, where it has no such member', '{"patch":"x"}', '{"patch":"x"}'],
    ['what there is of it, where it was cut', '{"input":"*** Beg', '*** Beg'],
  ])('is %s', (_what, text, expected) => {
    const { add, end } = freeformReader();
    expect(add(text) + end()).toBe(expected);
  });
});
