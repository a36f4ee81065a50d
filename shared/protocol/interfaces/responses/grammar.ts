import type { InterfaceGrammar } from '../index.ts';
import { textsOfRequest } from '../index.ts';
import { otherDelivery } from './other-delivery.ts';
import { responseSettings, responseTexts } from './texts.ts';
import { responseTurns } from './turns.ts';

export const grammar: InterfaceGrammar = {
  textsOfRequest: (json) => textsOfRequest(json, responseSettings),
  hasTokens: () => false,
  thinkingToStop: () => undefined,
  answers: responseTexts,
  otherDelivery,
  turns: responseTurns,
};
