// Adds to its package's output of Responses: which part is a refusal, the encrypted thinking, and that the answer ended
// well.
import type {
  LanguageModelV4,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { HubPart } from '../../../../protocol/hub/index.ts';
import { refusalIdPrefix } from './responses-answer.ts';

type Metadata = SharedV4ProviderMetadata | undefined;

/** The model's requests and answers pass through the package's own model. */
export const withOwnParts = (model: LanguageModelV4): LanguageModelV4 => ({
  specificationVersion: model.specificationVersion,
  provider: model.provider,
  modelId: model.modelId,
  supportedUrls: model.supportedUrls,
  async doGenerate(options) {
    const result = await model.doGenerate(options);
    const content = result.content.map((part, place) => ownContent(part, result.content[place + 1]));
    const hasRefused = content.some(({ providerMetadata }) => providerMetadata?.gw?.isRefusal === true);
    return { ...result, content, finishReason: ownEnd(result.finishReason, hasRefused) };
  },
  async doStream(options) {
    const result = await model.doStream(options);
    let hasRefused = false;
    const transform = new TransformStream<HubPart, HubPart>({
      transform(part, controller) {
        if (part.type === 'text-start' && isRefusal(part.id)) hasRefused = true;
        controller.enqueue(
          part.type === 'finish' ? { ...part, finishReason: ownEnd(part.finishReason, hasRefused) } : ownPart(part),
        );
      },
    });
    return { ...result, stream: result.stream.pipeThrough(transform) };
  },
});

const isRefusal = (id: unknown): boolean => typeof id === 'string' && id.startsWith(refusalIdPrefix);

/** Only an answer that was cut says why it ended. */
function ownEnd({ unified, raw }: LanguageModelV4FinishReason, hasRefused: boolean): LanguageModelV4FinishReason {
  if (unified === 'interrupted' || raw !== undefined) return { unified, raw };
  return { unified: hasRefused && unified === 'stop' ? 'content-filter' : unified, raw: 'completed' };
}

const itemIdOf = (metadata: Metadata): unknown => metadata?.openai?.itemId;

/** `next`: the last part of an item has its encrypted text. */
function ownContent(part: LanguageModelV4Content, next: LanguageModelV4Content | undefined): LanguageModelV4Content {
  const { providerMetadata: metadata, ...plain } = part;
  if (part.type === 'reasoning') {
    const isLast = next?.type !== 'reasoning' || itemIdOf(next.providerMetadata) !== itemIdOf(metadata);
    return { ...part, providerMetadata: ownReasoning(metadata, isLast) };
  }
  return { ...plain, ...(part.type === 'text' ? ownText(itemIdOf(metadata), metadata) : {}) } as LanguageModelV4Content;
}

function ownPart(part: HubPart): HubPart {
  if (part.type === 'reasoning-end') return { ...part, providerMetadata: ownReasoning(part.providerMetadata, true) };
  if (part.type === 'text-start' || part.type === 'text-delta' || part.type === 'text-end') {
    const { providerMetadata: metadata, ...plain } = part;
    return { ...plain, ...ownText(part.id, metadata) };
  }
  if (!('providerMetadata' in part)) return part;
  const { providerMetadata: _metadata, ...plain } = part;
  return plain as HubPart;
}

/** In the words of the hub. */
function ownText(id: unknown, metadata: Metadata): { readonly providerMetadata?: SharedV4ProviderMetadata } {
  const phase = metadata?.openai?.phase;
  const partMetadata = {
    ...(isRefusal(id) ? { isRefusal: true } : {}),
    ...(typeof phase === 'string' ? { phase } : {}),
  };
  return Object.keys(partMetadata).length === 0 ? {} : { providerMetadata: { gw: partMetadata } };
}

function ownReasoning(metadata: Metadata, isLast: boolean): SharedV4ProviderMetadata {
  const { itemId, reasoningEncryptedContent: encrypted } = metadata?.openai ?? {};
  if (typeof itemId !== 'string') return {};
  const isEncrypted = isLast && typeof encrypted === 'string' && encrypted !== '';
  return { gw: { signature: itemId, ...(isEncrypted ? { encrypted: `${itemId}${idEnd}${encrypted}` } : {}) } };
}

/** Separates the encrypted text from the id of its item: ids have no such character. */
const idEnd = ':';

/** Returns undefined for a text that another provider has encrypted. */
export function readEncrypted(text: string): { readonly itemId: string; readonly content: string } | undefined {
  const end = text.indexOf(idEnd);
  return end <= 0 ? undefined : { itemId: text.slice(0, end), content: text.slice(end + 1) };
}
