import type { InterfaceGrammar } from '../index.ts';
import { textsOfRequest } from '../index.ts';
import { otherDelivery } from './other-delivery.ts';
import { generatedTexts, settings } from './texts.ts';
import { generatedTurns } from './turns.ts';

export const grammar: InterfaceGrammar = {
  textsOfRequest: (json) => textsOfRequest(json, settings),
  hasTokens: () => false,
  thinkingToStop: () => undefined,
  answers: generatedTexts,
  otherDelivery,
  turns: generatedTurns,
};

/** Grammar of counts and vectors, whose answers have no text. */
export const grammarOfInput: InterfaceGrammar = {
  ...grammar,
  answers: undefined,
  otherDelivery: undefined,
  turns: undefined,
};
