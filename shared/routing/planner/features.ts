// Whether a candidate can do what a request needs.
import { type Candidate, type Extra, extraNames } from '../../configuration/catalogue/index.ts';
import { fail, type GatewayError } from '../../errors/index.ts';
import type { Feature, FeatureName } from '../../protocol/wire/index.ts';

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
} satisfies Record<FeatureName, (candidate: Candidate) => boolean> & Record<Extra, unknown>;

export const supportsAll = (candidate: Candidate, features: readonly Feature[]): boolean =>
  features.every(({ name }) => abilities[name](candidate));

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
