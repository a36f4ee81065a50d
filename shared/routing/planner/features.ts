// What a request needs a candidate to be able to do (spec 4.1, plain-model rule 2), read once from its body.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { type ChatRequest, isJsonObject } from '../../protocol/wire/index.ts';

/** The features of feature_unsupported. json_schema is none of them: it has a code of its own. */
const abilities = {
  tools: ({ entry }) => entry.supported_params.tools,
  vision: ({ entry }) => entry.supported_params.vision,
  // No parameter of an entry speaks of audio, so the model does.
  audio: ({ model }) => model.modalities.includes('audio'),
  json_mode: ({ entry }) => entry.supported_params.json_mode,
  streaming: ({ entry }) => entry.streaming,
} satisfies Record<string, (candidate: Candidate) => boolean>;

export type Feature = keyof typeof abilities;

export const supportsAll = (candidate: Candidate, features: readonly Feature[]): boolean =>
  features.every((feature) => abilities[feature](candidate));

export interface Needs {
  readonly features: readonly Feature[];
  readonly jsonSchema: boolean;
}

/** Only what asks for a feature counts: an empty list of tools or a `tool_choice` alone reaches the provider as it is. */
export function readNeeds({ raw, stream }: ChatRequest): Needs {
  const partTypes = contentPartTypes(raw.messages);
  const format = isJsonObject(raw.response_format) ? raw.response_format.type : undefined;
  const needed: Record<Feature, boolean> = {
    tools: isFilled(raw.tools) || isFilled(raw.functions),
    vision: partTypes.has('image_url') || partTypes.has('input_image'),
    audio: partTypes.has('input_audio') || isJsonObject(raw.audio) || includesAudio(raw.modalities),
    json_mode: format === 'json_object',
    streaming: stream,
  };
  const features = (Object.keys(needed) as Feature[]).filter((feature) => needed[feature]);
  return { features, jsonSchema: format === 'json_schema' };
}

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const includesAudio = (modalities: unknown): boolean => Array.isArray(modalities) && modalities.includes('audio');

function contentPartTypes(messages: unknown): ReadonlySet<unknown> {
  const types = new Set<unknown>();
  for (const message of Array.isArray(messages) ? messages : []) {
    const content = isJsonObject(message) ? message.content : undefined;
    for (const part of Array.isArray(content) ? content : []) if (isJsonObject(part)) types.add(part.type);
  }
  return types;
}
