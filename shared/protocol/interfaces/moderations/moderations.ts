// Defines the interface of moderations, with text and images as input, and categories with their scores as output.
import * as z from 'zod/mini';
import { type JsonText, listOf } from '../../wire/index.ts';
import {
  membersOf,
  openImageMeasure,
  plainMembers,
  type RelayedInput,
  readListAnswer,
  relayedInterface,
  sumOfMedia,
  withCostHeader,
} from '../index.ts';

/** A part of content; a type that is unknown is for the provider to judge. */
const part = z.looseObject({
  type: z.string(),
  text: z.optional(z.string()),
  image_url: z.optional(z.looseObject({ url: z.string() })),
});
const isText = (item: unknown): item is string => typeof item === 'string';
const input = z.union([z.string(), listOf(z.union([z.string(), part]), { itemsMin: 1, isGood: isText })]);
const moderationsSchema = z.looseObject({ ...plainMembers, input });
type Input = z.infer<typeof input>;

const partShape = membersOf({ type: {}, text: {}, image_url: membersOf({ url: {} }) });

export const moderations = relayedInterface({
  id: 'moderations',
  telemetryOperation: 'moderation',
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  upstreamPath: '/moderations',
  takesLong: false,
  schema: moderationsSchema,
  shapes: { input: { items: partShape } },
  // The provider's default model, because most clients name no model.
  defaultModel: 'omni-moderation-latest',
  promptMember: 'input',
  readInput: (json, { input }) => readInput(json, input),
  readAnswer: (text) => readListAnswer(text, { list: 'results' }),
  writeAnswer: withCostHeader,
});

/** Reads the input. Texts are judged separately, parts are judged together. */
function readInput(json: JsonText, input: Input): RelayedInput {
  const items = typeof input === 'string' ? [input] : input;
  const measure = openImageMeasure();
  const images = items.flatMap((item) => (isText(item) || item.image_url === undefined ? [] : [item.image_url]));
  const { tokens, dataCharacters, isElsewhere } = sumOfMedia(
    images.map(({ url }) => measure({ url, detail: undefined })),
  );
  const texts = items.map((item) => (isText(item) ? item : (item.text ?? '')));
  const size = {
    textBytes: json.compactBytes - dataCharacters,
    mediaTokens: tokens,
    hasMediaElsewhere: isElsewhere,
    contexts: items.filter(isText).length || 1,
  };
  return { size, promptBytes: texts.reduce((most, { length }) => Math.max(most, length), 0) };
}
