import type { JsonText } from '../../wire/index.ts';
import type { FoundText, InterfaceGrammar } from '../index.ts';
import { commonSettings, stringsIn, textsOfRequest, wordsOf } from '../index.ts';

const settings = commonSettings.union(wordsOf('documents top_n rank_fields'));

/** Yields the texts; a document has fields of any name, all of which the model reads. */
function* texts(json: JsonText): Generator<FoundText | undefined> {
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
