import type { InterfaceGrammar } from '../index.ts';
import { commonSettings, textsOfRequest } from '../index.ts';
import { imageDelivery } from './other-delivery.ts';
import { imageTexts } from './texts.ts';

const grammarOf = (prefix: string): InterfaceGrammar => ({
  textsOfRequest: (json) => textsOfRequest(json, commonSettings),
  hasTokens: () => false,
  thinkingToStop: () => undefined,
  answers: imageTexts(prefix),
  otherDelivery: imageDelivery(prefix),
  turns: undefined,
});

export const grammar = grammarOf('image_generation');
export const editGrammar = grammarOf('image_edit');
