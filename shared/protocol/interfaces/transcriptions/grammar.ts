import type { InterfaceGrammar } from '../index.ts';
import { commonSettings, textsOfRequest } from '../index.ts';
import { otherDelivery } from './other-delivery.ts';
import { transcriptionTexts } from './texts.ts';

export const grammar: InterfaceGrammar = {
  textsOfRequest: (json) => textsOfRequest(json, commonSettings),
  hasTokens: () => false,
  thinkingToStop: () => undefined,
  answers: transcriptionTexts,
  otherDelivery,
  turns: undefined,
};
