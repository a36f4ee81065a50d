// What a provider signs or hides, so that it can tell later that it came from it: the same text has the same signature.
import { createHash } from 'node:crypto';

export const signatureOf = (text: string): string =>
  createHash('sha256').update(`signed by the simulator: ${text}`).digest('base64');

/** Reasoning that its provider alone can read. */
export const redactedReasoning = Buffer.from('redacted by the simulator').toString('base64');

/** What OpenAI encrypts of a model's reasoning: no other model can read it. */
export const encryptedBy = (model: string, text: string): string => `gAAAA${signatureOf(`${model}: ${text}`)}`;

/** As OpenAI knows its models: dots between digits are dashes. */
const plainName = (model: string): string => model.toLowerCase().replaceAll(/(?<=\d)\.(?=\d)/g, '-');

/** Models of OpenAI that think, by their names. */
export const isThinker = (model: string): boolean => /(^|\/)(gpt-(?!5-chat)[5-9]|o[1-9](-|$))/.test(plainName(model));

/** Those that think and call tools on Responses alone. */
export const thinksWithToolsElsewhere = (model: string): boolean =>
  /(^|\/)gpt-(5-([4-9]|\d\d)(?!\d)|[6-9])/.test(plainName(model));

/** Those of them that think where nothing is said of it. */
export const thinksUnasked = (model: string): boolean =>
  /(^|\/)gpt-(5-([5-9]|\d\d)(?!\d)|[6-9])/.test(plainName(model));

/** Those that cannot be kept from thinking. */
export const knowsNoNone = (model: string): boolean => /(^|\/)gpt-6-(astra|rosalind|1-sol)/.test(plainName(model));
