import { describe, expect, it } from '#jest';
import type { SupportedParams } from '../../../shared/configuration/catalogue/index.ts';
import type { GatewayError } from '../../../shared/errors/index.ts';
import { makePlan } from '../../../shared/routing/planner/index.ts';
import {
  ableTo,
  catalogueOf,
  entryOf,
  factsOf,
  modelOf,
  planFactsOf,
  planned,
  providerOf,
  requestOf,
} from '../../support/planning.ts';

const without = (...params: readonly (keyof SupportedParams)[]) =>
  entryOf('p', { supported_params: { ...ableTo, ...Object.fromEntries(params.map((name) => [name, false])) } });

const saying = (...parts: readonly Record<string, unknown>[]) => ({ messages: [{ role: 'user', content: parts }] });
const image = { type: 'image_url', image_url: { url: 'https://images.example/cat.png' } };
const sound = { type: 'input_audio', input_audio: { data: '', format: 'wav' } };
const tool = { type: 'function', function: { name: 'f' } };
const schema = { type: 'json_schema', json_schema: { name: 'n', schema: {} } };

const unableTo: readonly (readonly [string, Record<string, unknown>, ReturnType<typeof entryOf>])[] = [
  ['tools', { tools: [tool] }, without('tools')],
  ['functions, the former name of tools', { functions: [{ name: 'f' }] }, without('tools')],
  ['an image', saying(image), without('vision')],
  ['an image among texts', saying({ type: 'text', text: 'See:' }, image), without('vision')],
  ['an image in a tool result', { messages: [{ role: 'tool', content: [image] }] }, without('vision')],
  ['JSON mode', { response_format: { type: 'json_object' } }, without('json_mode')],
  ['a stream', { stream: true }, entryOf('p', { streaming: false })],
  ['audio in a message', saying(sound), entryOf('p')],
  ['audio among the modalities', { modalities: ['text', 'audio'] }, entryOf('p')],
  ['an audio member', { audio: { voice: 'v', format: 'wav' } }, entryOf('p')],
];

const dearer: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ['a dearer service tier', { service_tier: 'priority' }, 'service_tier'],
  ['a service tier of another type', { service_tier: 1 }, 'service_tier'],
  ['web search', { web_search_options: {} }, 'web_search'],
  ['plugins', { plugins: [{ id: 'web' }] }, 'plugins'],
  ['plugins of another type', { plugins: { id: 'web' } }, 'plugins'],
  ['more answers than are given', { best_of: 2 }, 'best_of'],
  ['more answers than n', { best_of: 4, n: 3 }, 'best_of'],
  ['a number of answers that is none', { best_of: '1' }, 'best_of'],
];

const askingNothing: readonly (readonly [string, Record<string, unknown>])[] = [
  ['an empty list of tools', { tools: [] }],
  ['tools that are null', { tools: null, functions: null }],
  ['tool_choice and parallel_tool_calls alone', { tool_choice: 'none', parallel_tool_calls: false }],
  ['tool messages of an earlier turn', { messages: [{ role: 'tool', tool_call_id: 'c', content: 'x' }] }],
  ['modalities of text', { modalities: ['text'] }],
  ['modalities of another type', { modalities: 'audio' }],
  ['an audio member that is null', { audio: null }],
  ['a text response format', { response_format: { type: 'text' } }],
  ['a response format that is unknown', { response_format: { type: 'grammar' } }],
  ['a file part', saying({ type: 'file', file: { file_id: 'f' } })],
  ['the word image_url in a text', saying({ type: 'text', text: 'image_url input_audio' })],
  ['a message without content', { messages: [{ role: 'assistant', content: null }] }],
  ['parts that are no objects', { messages: [{ role: 'user', content: ['image_url', null, 1] }] }],
  ['a stream that is false', { stream: false }],
  ['the usual service tiers', { service_tier: 'auto' }],
  ['the default service tier', { service_tier: 'default' }],
  ['the cheaper service tier', { service_tier: 'flex' }],
  ['dearer members that are null', { service_tier: null, web_search_options: null, plugins: null, best_of: null }],
  ['an empty list of plugins', { plugins: [] }],
  ['as many answers as n', { best_of: 3, n: 3 }],
];

/** Of a token count that is not that of its text alone. */
const hasMedia = (request: ReturnType<typeof requestOf>) => request.size().mediaTokens !== 0;

describe('a requested feature', () => {
  it.each(unableTo)('needs a provider that has it: %s', (_, members, entry) => {
    expect(planned(members, planFactsOf([entry]))).toBe('feature_unsupported');
  });

  it.each(dearer)('that makes a call dearer needs an entry that lists it: %s', (_, members, extra) => {
    const listing = (...extras: string[]) =>
      planFactsOf([entryOf('p', { supported_params: { ...ableTo, extras: extras as SupportedParams['extras'] } })]);
    const others = ['service_tier', 'web_search', 'plugins', 'best_of'].filter((name) => name !== extra);
    expect(planned(members, listing(extra))).toEqual(['p']);
    expect(planned(members, listing(...others))).toBe('feature_unsupported');
    const refusal = makePlan(requestOf(members), planFactsOf([entryOf('p')])) as GatewayError;
    expect(refusal).toMatchObject({ code: 'feature_unsupported', param: Object.keys(members)[0] });
    expect(refusal.message).toContain(Object.keys(members)[0]);
    expect(refusal.message).toContain(`supported_params.extras: [${extra}]`);
  });

  it.each(askingNothing)('is not read into %s', (_, members) => {
    const unable = without('tools', 'vision', 'json_mode', 'json_schema');
    expect(planned(members, planFactsOf([{ ...unable, streaming: false }]))).toEqual(['p']);
  });

  it('of audio is served by a model that names audio among its modalities', () => {
    const model = modelOf('m', { modalities: ['text', 'audio'], providers: [entryOf('p')] });
    expect(planned(saying(sound), factsOf(catalogueOf([model], [providerOf('p')])))).toEqual(['p']);
  });

  it('leaves out who lacks it and keeps the others, in their order', () => {
    const defaultFacts = planFactsOf([without('tools'), entryOf('q'), entryOf('r')]);
    expect(planned({ tools: [tool] }, defaultFacts)).toEqual(['q', 'r']);
  });

  it('must be had together with every other: half here and half there is not enough', () => {
    const toolsOnly = entryOf('a', { supported_params: { ...ableTo, vision: false } });
    const visionOnly = entryOf('b', { supported_params: { ...ableTo, tools: false } });
    const defaultFacts = planFactsOf([toolsOnly, visionOnly]);
    expect(planned({ tools: [tool], ...saying(image) }, defaultFacts)).toBe('feature_unsupported');
  });

  it('is named in the error where no candidate has it', () => {
    const error = makePlan(requestOf({ tools: [tool], stream: true }), planFactsOf([without('tools')]));
    expect((error as GatewayError).message).toMatch(/: tools\.$/);
    expect((error as GatewayError).param).toBe('tools');
  });
});

describe('a json_schema response format', () => {
  it('is served only by providers that support it, and has an error of its own', () => {
    const defaultFacts = planFactsOf([without('json_schema'), entryOf('q')]);
    expect(planned({ response_format: schema }, defaultFacts)).toEqual(['q']);
    expect(planned({ response_format: schema }, planFactsOf([without('json_schema')]))).toBe(
      'structured_output_unsupported',
    );
  });

  it('is another thing than JSON mode: neither stands for the other', () => {
    expect(planned({ response_format: schema }, planFactsOf([without('json_mode')]))).toEqual(['p']);
    expect(planned({ response_format: { type: 'json_object' } }, planFactsOf([without('json_schema')]))).toEqual(['p']);
  });

  it('is asked after the features, and only of those who have them', () => {
    const schemaOnly = entryOf('a', { supported_params: { ...ableTo, tools: false } });
    const toolsOnly = entryOf('b', { supported_params: { ...ableTo, json_schema: false } });
    const members = { tools: [tool], response_format: schema };
    expect(planned(members, planFactsOf([schemaOnly]))).toBe('feature_unsupported');
    expect(planned(members, planFactsOf([toolsOnly]))).toBe('structured_output_unsupported');
    expect(planned(members, planFactsOf([schemaOnly, toolsOnly]))).toBe('structured_output_unsupported');
  });
});

describe('media', () => {
  it('are all parts that are no text: images, sounds, files, and unknown kinds', () => {
    for (const part of [image, sound, { type: 'file', file: {} }, { type: 'hologram' }, {}]) {
      expect(hasMedia(requestOf(saying({ type: 'text', text: 'See:' }, part)))).toBe(true);
    }
  });

  it('are not texts and refusals, however they are written', () => {
    const texts = [
      { type: 'text', text: 'image_url' },
      { type: 'refusal', refusal: 'No.' },
    ];
    expect(hasMedia(requestOf(saying(...texts)))).toBe(false);
    expect(hasMedia(requestOf())).toBe(false);
  });
});
