import type { JsonText } from '../../wire/index.ts';
import type { FoundText, InterfaceGrammar } from '../index.ts';
import { commonSettings, stringsIn, textsOfRequest, wordsOf } from '../index.ts';

const settings = commonSettings.union(wordsOf('documents top_n rank_fields'));

/** A document has fields of any names, all of which are read. */
function* texts(json: JsonText): Generator<FoundText> {
  yield* textsOfRequest(json, settings);
  for (const { name, value } of json.members()) if (name === 'documents') yield* stringsIn(json, value);
}

export const grammar: InterfaceGrammar = {
  textsOfRequest: texts,
  hasTokens: () => false,
  thinkingToStop: () => undefined,
  answers: undefined,
  otherDelivery: undefined,
  turns: undefined,
};
