// Signatures and encrypted texts of a provider, by which it recognizes its own output: the same text has the same
// signature.
import { createHash } from 'node:crypto';

export const signatureOf = (text: string): string =>
  createHash('sha256').update(`signed by the simulator: ${text}`).digest('base64');

/** Reasoning that its provider alone can read. */
export const redactedReasoning = Buffer.from('redacted by the simulator').toString('base64');

/** OpenAI's encrypted reasoning, which no other model can read. */
export const encryptedBy = (model: string, text: string): string => `gAAAA${signatureOf(`${model}: ${text}`)}`;

/** OpenAI's name of a model: dots between digits are dashes. */
const plainName = (model: string): string => model.toLowerCase().replaceAll(/(?<=\d)\.(?=\d)/g, '-');

/** Models of OpenAI that think, by their names. */
export const isThinker = (model: string): boolean => /(^|\/)(gpt-(?!5-chat)[5-9]|o[1-9](-|$))/.test(plainName(model));

/** Models that think and call tools on Responses alone. */
export const thinksWithToolsElsewhere = (model: string): boolean =>
  /(^|\/)gpt-(5-([4-9]|\d\d)(?!\d)|[6-9])/.test(plainName(model));

/** Models of these that think by default. */
export const thinksUnasked = (model: string): boolean =>
  /(^|\/)gpt-(5-([5-9]|\d\d)(?!\d)|[6-9])/.test(plainName(model));

/** Models that cannot be kept from thinking. */
export const knowsNoNone = (model: string): boolean => /(^|\/)gpt-6-(astra|rosalind|1-sol)/.test(plainName(model));

/**
 * Models of Mistral, which think unasked and write it as parts of the content:
 * https://docs.mistral.ai/capabilities/reasoning.
 */
export const thinksInParts = (model: string): boolean => /(^|\/)magistral/.test(model);
