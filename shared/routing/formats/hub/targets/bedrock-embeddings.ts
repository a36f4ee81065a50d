// Bedrock's embedding models, called by InvokeModel: Titan, Cohere and Nova, each in its maker's form.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { toCount } from '../../../../protocol/wire/index.ts';
import type { EmbeddingTarget } from './hub-target.ts';

type Family = 'titan' | 'cohere' | 'nova';

/** By its names at provider and catalogue: the ARN of an inference profile does not show its model. */
function familyOf(names: readonly string[]): Family {
  if (names.some((name) => /nova.*embed/i.test(name))) return 'nova';
  return names.some((name) => /cohere.*embed/i.test(name)) ? 'cohere' : 'titan';
}

/** The package ignores the common option. */
const dimensionsMembers = { titan: 'dimensions', cohere: 'outputDimension', nova: 'embeddingDimension' } as const;

export const bedrockEmbeddings: EmbeddingTarget = {
  // A key keeps it from signing.
  openModel: ({ model, ...settings }, names) =>
    createAmazonBedrock({ ...settings, region: 'none' }).embedding(model, { modelFamily: familyOf(names) }),
  knownFields: (names) => (familyOf(names) === 'cohere' ? ['input_type'] : []),
  toOptions({ dimensions, inputType = 'search_document' }, names) {
    const family = familyOf(names);
    const options = {
      ...(dimensions === undefined ? {} : { [dimensionsMembers[family]]: dimensions }),
      // The package takes texts for questions.
      ...(family === 'cohere' ? { inputType } : {}),
      // The package lets Nova cut a long text in silence.
      ...(family === 'nova' ? { truncate: 'NONE' } : {}),
    };
    return { providerOptions: { amazonBedrock: options } };
  },
  readable: withReadableCount,
  // Of Cohere, whose answers have no count.
  tokensIn: (_result, answer) => {
    const count = answer?.header?.('x-amzn-bedrock-input-token-count');
    return count === undefined ? undefined : toCount(Number(count));
  },
};

const readableCount = /"input(Text)?TokenCount"\s*:\s*\d{1,15}\s*[,}]/;

/** An answer of Titan's without its count, and a count that is no number, make the package fail: 0 is none. */
function withReadableCount(text: string): string {
  const trimmed = text.trimEnd();
  if (readableCount.test(text) || !trimmed.endsWith('}')) return text;
  return `${trimmed.slice(0, -1)},"inputTextTokenCount":0,"inputTokenCount":0}`;
}
