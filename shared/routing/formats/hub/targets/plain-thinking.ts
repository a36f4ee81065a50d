// Finds the field in which a provider shows its model's thinking, and in which it accepts it again. The package reads
// both names in the same way.

import type { MetadataExtractor } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { HubPart } from '../../../../protocol/hub/index.ts';
import { isJsonObject } from '../../../../protocol/wire/index.ts';

/** Name of the chat target, under which its package puts options and metadata. */
export const packageName = 'chat';

/** Field of the thinking; `thinking`: parts of the content. */
type ReasoningMember = 'reasoning_content' | 'reasoning' | 'thinking';

/** Watches one call for the field. */
interface ThinkingWatch {
  /** Extractor to which the package passes each answer, and each chunk of an answer. */
  readonly extractor: MetadataExtractor;
  /** Returns the model, whose thinking then names its original field. */
  readonly marked: (model: LanguageModelV4) => LanguageModelV4;
}

const isThinkingPart = (part: unknown): boolean => isJsonObject(part) && part.type === 'thinking';

export function watchThinking(): ThinkingWatch {
  let member: ReasoningMember = 'reasoning_content';
  const read = (body: unknown, of: 'message' | 'delta') => {
    const choices = isJsonObject(body) && Array.isArray(body.choices) ? body.choices : [];
    const message: unknown = isJsonObject(choices[0]) ? choices[0][of] : undefined;
    if (!isJsonObject(message)) return;
    if (typeof message.reasoning === 'string') member = 'reasoning';
    if (Array.isArray(message.content) && message.content.some(isThinkingPart)) member = 'thinking';
  };
  const shown = () => ({ providerMetadata: { gw: { signature: member } } });
  return {
    extractor: {
      extractMetadata: ({ parsedBody }) => {
        read(parsedBody, 'message');
        return Promise.resolve(undefined);
      },
      createStreamExtractor: () => ({ processChunk: (chunk) => read(chunk, 'delta'), buildMetadata: () => undefined }),
    },
    marked: (model) => ({
      specificationVersion: model.specificationVersion,
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      async doGenerate(options) {
        const result = await model.doGenerate(options);
        const content = result.content.map((part) => (part.type === 'reasoning' ? { ...part, ...shown() } : part));
        return { ...result, content };
      },
      async doStream(options) {
        const result = await model.doStream(options);
        const transform = new TransformStream<HubPart, HubPart>({
          transform: (part, controller) =>
            controller.enqueue(part.type === 'reasoning-end' ? { ...part, ...shown() } : part),
        });
        return { ...result, stream: result.stream.pipeThrough(transform) };
      },
    }),
  };
}
