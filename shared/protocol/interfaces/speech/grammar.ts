import type { InterfaceGrammar } from '../index.ts';
import { commonSettings, textsOfRequest } from '../index.ts';

export const grammar: InterfaceGrammar = {
  textsOfRequest: (json) => textsOfRequest(json, commonSettings),
  hasTokens: () => false,
  thinkingToStop: () => undefined,
  answers: undefined,
  otherDelivery: undefined,
  turns: undefined,
};
