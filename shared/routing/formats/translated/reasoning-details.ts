// `reasoning_details` of messages: what a provider signed or encrypted of its thinking, so that a client that sends an
// assistant message back lets the model go on thinking across its tool calls.
import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject } from '../../../protocol/wire/index.ts';
import type { TranslatedApi } from './translated-api.ts';

export type ReasoningDetail = { readonly format: string; readonly index: number } & (
  | { readonly type: 'reasoning.text'; readonly text: string; readonly signature?: string }
  | { readonly type: 'reasoning.encrypted'; readonly data: string; readonly id?: string }
);

/** Who can read a signature: what Claude signs on one platform it takes on another. */
export const reasoningFormats: Readonly<Record<TranslatedApi, string>> = {
  messages: 'anthropic-claude-v1',
  converse: 'anthropic-claude-v1',
  'generate-content': 'google-gemini-v1',
};

export interface Signed {
  /** Of the thinking that it comes with. */
  readonly signature?: string;
  /** Thinking that is encrypted as a whole. */
  readonly encrypted?: string;
}

/** What a package says of a part: each has its own name for the same. */
export function readSigned(metadata: SharedV4ProviderMetadata | undefined): Signed {
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  const { anthropic = {}, amazonBedrock = {}, google = {} } = metadata ?? {};
  const signature = text(anthropic.signature) ?? text(amazonBedrock.signature) ?? text(google.thoughtSignature);
  const encrypted =
    text(anthropic.redactedData) ?? text(amazonBedrock.redactedContent) ?? text(amazonBedrock.redactedData);
  return { ...(signature === undefined ? {} : { signature }), ...(encrypted === undefined ? {} : { encrypted }) };
}

export interface SentReasoning {
  readonly parts: readonly LanguageModelV4ReasoningPart[];
  /** Gemini's signatures by the tool call they belong to; '' is that of the text. */
  readonly signatures: ReadonlyMap<string, string>;
}

interface Detail {
  text: string;
  signature: string | undefined;
  data: string | undefined;
  id: string | undefined;
}

/** What of a message that came back the target can read. Thinking without a signature is not sent: it would be refused. */
export function readReasoningDetails(details: unknown, api: TranslatedApi): SentReasoning {
  const parts: LanguageModelV4ReasoningPart[] = [];
  const signatures = new Map<string, string>();
  for (const { text, signature, data, id } of mergeFragments(details, reasoningFormats[api])) {
    if (api === 'generate-content' && data !== undefined) signatures.set(id ?? '', data);
    else if (signature !== undefined)
      parts.push({ type: 'reasoning', text, providerOptions: signedOptions(signature) });
    else if (data !== undefined && id === undefined) {
      parts.push({ type: 'reasoning', text: '', providerOptions: encryptedOptions(data) });
    }
  }
  return { parts, signatures };
}

const signedOptions = (signature: string) => ({
  anthropic: { signature },
  amazonBedrock: { signature },
  google: { thoughtSignature: signature },
});
const encryptedOptions = (data: string) => ({
  anthropic: { redactedData: data },
  amazonBedrock: { redactedContent: data },
});

/** A client that kept the chunks of a stream sends the pieces of one detail, which have one index. */
function mergeFragments(details: unknown, format: string): Iterable<Detail> {
  const merged = new Map<unknown, Detail>();
  for (const [place, one] of (Array.isArray(details) ? details : []).entries()) {
    if (!isJsonObject(one) || (one.format ?? format) !== format) continue;
    const key = `${one.type} ${typeof one.index === 'number' ? one.index : `at ${place}`}`;
    const known = merged.get(key) ?? { text: '', signature: undefined, data: undefined, id: undefined };
    if (typeof one.text === 'string') known.text += one.text;
    if (typeof one.signature === 'string') known.signature = one.signature;
    if (typeof one.data === 'string') known.data = (known.data ?? '') + one.data;
    if (typeof one.id === 'string') known.id = one.id;
    merged.set(key, known);
  }
  return merged.values();
}
