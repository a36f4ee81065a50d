import type { InterfaceGrammar } from '../index.ts';
import { otherDelivery } from './other-delivery.ts';
import { converseTexts, textsOfConverse } from './texts.ts';
import { converseTurns } from './turns.ts';

export const grammar: InterfaceGrammar = {
  textsOfRequest: (json) => textsOfConverse(json),
  hasTokens: () => false,
  // A relay already disables thinking for this turn.
  thinkingToStop: () => undefined,
  answers: converseTexts,
  otherDelivery,
  turns: converseTurns,
};
