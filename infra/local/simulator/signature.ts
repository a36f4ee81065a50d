// Makes signatures and encrypted texts of a provider, by which it recognizes its own output. The same text has the same
// signature.
import { createHash } from 'node:crypto';

export const signatureOf = (text: string): string =>
  createHash('sha256').update(`signed by the simulator: ${text}`).digest('base64');

/** Reasoning that only its provider can read. */
export const redactedReasoning = Buffer.from('redacted by the simulator').toString('base64');

/** Returns OpenAI's encrypted reasoning, which no other model can read. */
export const encryptedBy = (model: string, text: string): string => `gAAAA${signatureOf(`${model}: ${text}`)}`;

/** Returns OpenAI's name of a model, in which dots between digits are dashes. */
const plainName = (model: string): string => model.toLowerCase().replaceAll(/(?<=\d)\.(?=\d)/g, '-');

/** Returns whether a model of OpenAI thinks, by its name. */
export const isThinker = (model: string): boolean => /(^|\/)(gpt-(?!5-chat)[5-9]|o[1-9](-|$))/.test(plainName(model));

/** Returns whether a model thinks and calls tools only on Responses. */
export const thinksWithToolsElsewhere = (model: string): boolean =>
  /(^|\/)gpt-(5-([4-9]|\d\d)(?!\d)|[6-9])/.test(plainName(model));

/** Returns whether a model of this name thinks by default. */
export const thinksByDefault = (model: string): boolean =>
  /(^|\/)gpt-(5-([5-9]|\d\d)(?!\d)|[6-9])/.test(plainName(model));

/** Returns whether the thinking of a model cannot be switched off. */
export const knowsNoNone = (model: string): boolean => /(^|\/)gpt-6-(astra|rosalind|1-sol)/.test(plainName(model));

/**
 * Returns whether a model of Mistral thinks by default and writes its thinking as parts of the content. Source:
 * https://docs.mistral.ai/capabilities/reasoning.
 */
export const thinksInParts = (model: string): boolean => /(^|\/)magistral/.test(model);
