import { findMember, type JsonText } from '../../wire/index.ts';
import type { InterfaceGrammar } from '../index.ts';
import { commonSettings, textsOfRequest, wordsOf } from '../index.ts';

const settings = commonSettings.union(wordsOf('encoding_format dimensions input_type'));

function hasTokens(json: JsonText): boolean {
  const input = findMember(json, 'input');
  if (input === undefined || json.isString(input)) return false;
  return json.inside(input).some((item) => !json.isString(item));
}

export const grammar: InterfaceGrammar = {
  textsOfRequest: (json) => textsOfRequest(json, settings),
  hasTokens,
  thinkingToStop: () => undefined,
  answers: undefined,
  otherDelivery: undefined,
  turns: undefined,
};
