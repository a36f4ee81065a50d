import type { InterfaceGrammar } from '../index.ts';
import { textsOfRequest } from '../index.ts';
import { lacksThinking } from './foreign-thinking.ts';
import { otherDelivery } from './other-delivery.ts';
import { messageSettings, messageTexts } from './texts.ts';
import { messageTurns } from './turns.ts';

export const grammar: InterfaceGrammar = {
  textsOfRequest: (json) => textsOfRequest(json, messageSettings),
  hasTokens: () => false,
  thinkingToStop: (json) => (lacksThinking(json) ? 'thinking' : undefined),
  answers: messageTexts,
  otherDelivery,
  turns: messageTurns,
};
