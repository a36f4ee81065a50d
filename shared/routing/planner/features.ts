// What a request needs a candidate to be able to do, read once from its body, and which of its members asks for that.
import { type Candidate, type Extra, extraNames } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError } from '../../errors/index.ts';
import { type ChatRequest, isJsonObject } from '../../protocol/wire/index.ts';

/** Members that make a call dearer than the catalogue's prices: only an entry that lists them is called with them. */
const lists =
  (extra: Extra) =>
  ({ entry }: Candidate): boolean =>
    entry.supported_params.extras?.includes(extra) ?? false;

/** The features of feature_unsupported. json_schema is none of them: it has a code of its own. */
const abilities = {
  tools: ({ entry }) => entry.supported_params.tools,
  vision: ({ entry }) => entry.supported_params.vision,
  // No parameter of an entry speaks of audio, so the model does.
  audio: ({ model }) => model.modalities.includes('audio'),
  json_mode: ({ entry }) => entry.supported_params.json_mode,
  streaming: ({ entry }) => entry.streaming,
  service_tier: lists('service_tier'),
  web_search: lists('web_search'),
  plugins: lists('plugins'),
  best_of: lists('best_of'),
} satisfies Record<string, (candidate: Candidate) => boolean> & Record<Extra, unknown>;

type FeatureName = keyof typeof abilities;

/** A feature, and the member of the request that asks for it. */
export interface Feature {
  readonly name: FeatureName;
  readonly member: string;
}

export const supportsAll = (candidate: Candidate, features: readonly Feature[]): boolean =>
  features.every(({ name }) => abilities[name](candidate));

export interface Needs {
  readonly features: readonly Feature[];
  readonly jsonSchema: boolean;
}

/** Only what asks for a feature counts: an empty list of tools or a `tool_choice` alone reaches the provider as it is. */
export function readNeeds({ raw, stream, choices }: ChatRequest): Needs {
  const format = isJsonObject(raw.response_format) ? raw.response_format.type : undefined;
  const needed: Record<FeatureName, string | false | undefined> = {
    tools: firstOf([isFilled(raw.tools), 'tools'], [isFilled(raw.functions), 'functions']),
    vision: pathOfPart(raw.messages, ['image_url', 'input_image']),
    audio:
      pathOfPart(raw.messages, ['input_audio']) ??
      firstOf([isJsonObject(raw.audio), 'audio'], [includesAudio(raw.modalities), 'modalities']),
    json_mode: format === 'json_object' && 'response_format',
    streaming: stream && 'stream',
    service_tier: isDearerTier(raw.service_tier) && 'service_tier',
    web_search: isSent(raw.web_search_options) && 'web_search_options',
    plugins: isSent(raw.plugins) && !isEmptyList(raw.plugins) && 'plugins',
    best_of: isSent(raw.best_of) && !isAtMost(raw.best_of, choices) && 'best_of',
  };
  const features = (Object.keys(needed) as FeatureName[]).flatMap((name) => {
    const member = needed[name];
    return typeof member === 'string' ? [{ name, member }] : [];
  });
  return { features, jsonSchema: format === 'json_schema' };
}

/** What no candidate can do; where each can do a part, all that is asked for. */
export function failUnsupported(left: readonly Candidate[], features: readonly Feature[]): GatewayError {
  const lacking = features.filter((feature) => !left.some((candidate) => supportsAll(candidate, [feature])));
  const named = lacking.length > 0 ? lacking : features;
  const extras = named.map(({ name }) => name).filter(isExtra);
  const what = named.map(({ name, member }) => (isExtra(name) ? member : name)).join(', ');
  const hint = `This costs more than the catalogue's prices, so the operator of the gateway has to allow it in the model's entry of the gateway file: supported_params.extras: [${extras.join(', ')}].`;
  return fail('feature_unsupported', {
    message: `No eligible provider of the model supports all that is requested: ${what}.${extras.length > 0 ? ` ${hint}` : ''}`,
    param: named[0]?.member,
  });
}

const isExtra = (name: FeatureName): name is Extra => (extraNames as readonly string[]).includes(name);

const firstOf = (...asked: readonly (readonly [boolean, string])[]): string | undefined =>
  asked.find(([isAsked]) => isAsked)?.[1];

const isSent = (value: unknown): boolean => value !== undefined && value !== null;
const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isAtMost = (value: unknown, max: number): boolean => typeof value === 'number' && value <= max;

const includesAudio = (modalities: unknown): boolean => Array.isArray(modalities) && modalities.includes('audio');

/** Tiers at the catalogue's prices or below. */
const usualTiers: readonly unknown[] = ['auto', 'default', 'flex'];
const isDearerTier = (tier: unknown): boolean => isSent(tier) && !usualTiers.includes(tier);

/** The first part of one of these types in the messages. */
function pathOfPart(messages: unknown, types: readonly unknown[]): string | undefined {
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const content = isJsonObject(message) && Array.isArray(message.content) ? message.content : [];
    const part = content.findIndex((one) => isJsonObject(one) && types.includes(one.type));
    if (part >= 0) return `messages[${index}].content[${part}]`;
  }
  return undefined;
}
