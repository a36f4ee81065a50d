/** Returns an entry with every ability that the tables need; extras are abilities of the provider itself. */
export const ableEntry = (...extras: readonly string[]) => ({
  max_output_tokens: 8_192,
  supported_params: { tools: true, vision: true, json_mode: true, json_schema: true, extras },
});
/** Adds every modality to models, for the same reason. */
export const everyModality = (models: object) =>
  Object.fromEntries(Object.keys(models).map((model) => [model, { modalities: ['text', 'image', 'audio'] }]));

export { answerFeatures } from './answer-features.ts';
export { type ClientId, type ClientRow, type ColumnFormat, columnsOf, type FeatureVerdict } from './client-row.ts';
export { clientsOfMessages } from './clients-of-messages.ts';
export { clientsOfResponses } from './clients-of-responses.ts';
export {
  type Ask,
  type Check,
  type ColumnApi,
  type FeatureAnswer,
  type FeatureRow,
  translatedApis,
} from './feature-row.ts';
export { requestFeatures } from './request-features.ts';
