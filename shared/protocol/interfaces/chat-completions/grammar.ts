import type { InterfaceGrammar } from '../index.ts';
import { textsOfRequest } from '../index.ts';
import { otherDelivery } from './other-delivery.ts';
import { chatSettings, chatTexts } from './texts.ts';
import { chatTurns } from './turns.ts';

export const grammar: InterfaceGrammar = {
  textsOfRequest: (json) => textsOfRequest(json, chatSettings),
  hasTokens: () => false,
  thinkingToStop: () => undefined,
  answers: chatTexts,
  otherDelivery,
  turns: chatTurns,
};
