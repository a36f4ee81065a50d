// `reasoning_details` of messages: a provider's signature or encrypted text of its thinking, sealed by the gateway, so
// that a client that sends an assistant message again lets the model continue to think across its tool calls.
import type { LanguageModelV4ReasoningPart, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { envelopeOptions, signedOptions } from '../../../hub/index.ts';
import { type Envelopes, isJsonObject, type JsonObject, type SignedEnvelope } from '../../../wire/index.ts';

interface SentReasoning {
  /** Thinking without a signature is not sent: it would be refused. */
  readonly thoughts: readonly LanguageModelV4ReasoningPart[];
  /** By the tool call they belong to; '' is that of the text. */
  readonly signatures: ReadonlyMap<string, SharedV4ProviderOptions>;
  /** The provider's phase of the text; undefined for none, or for more than one in a message. */
  readonly phase: SharedV4ProviderOptions | undefined;
  /** The first field that this workspace did not get from the gateway, if any. */
  readonly strangerAt: string | undefined;
}

interface Detail {
  readonly place: number;
  text: string;
  signature: string | undefined;
  data: string | undefined;
  format: string | undefined;
  phase: string | undefined;
}

/** Signatures in a message that is sent again. `path`: of the message. */
export function readReasoningDetails(message: JsonObject, path: string, open: Envelopes['open']): SentReasoning {
  const details = mergeFragments(message.reasoning_details);
  const isShownWhole = isWhole(details, message.reasoning);
  const signatures = new Map<string, SharedV4ProviderOptions>();
  const thoughts: LanguageModelV4ReasoningPart[] = [];
  let strangerAt: string | undefined;
  for (const { place, text, signature, data } of details) {
    const sealed = signature ?? data ?? '';
    const opened = open(sealed);
    const field = `${path}.reasoning_details[${place}]`;
    const envelope = opened && { ...opened, field };
    if (envelope === undefined) {
      if (sealed !== '') strangerAt ??= field;
    } else if (envelope.of !== undefined) signatures.set(callOf(envelope), envelopeOptions(envelope));
    else if (isShownWhole) {
      thoughts.push({ type: 'reasoning', text, providerOptions: envelopeOptions(envelope) });
    }
  }
  return { thoughts, signatures, phase: phaseIn(details), strangerAt };
}

const callOf = ({ of }: SignedEnvelope): string => (typeof of === 'object' ? of.call : '');

function phaseIn(details: readonly Detail[]): SharedV4ProviderOptions | undefined {
  const named = details.filter(({ phase }) => phase !== undefined);
  const [{ phase, format } = { phase: undefined, format: undefined }] = named;
  if (phase === undefined || named.some((one) => one.phase !== phase)) return undefined;
  return signedOptions({ phase, ...(format === undefined ? {} : { origin: format }) });
}

/**
 * OpenAI's SDK for Node keeps the last piece of a stream's details, which is a signature without its text, and the last
 * one of `reasoning`: a provider would refuse it. Thinking with a hidden text has no `reasoning`.
 */
const isWhole = (details: readonly Detail[], reasoning: unknown): boolean =>
  typeof reasoning !== 'string' || details.reduce((length, { text }) => length + text.length, 0) >= reasoning.length;

/**
 * A client that kept the chunks of a stream sends the pieces of one detail, which have one index; the first states its
 * format.
 */
function mergeFragments(details: unknown): Detail[] {
  const merged = new Map<unknown, Detail>();
  for (const [place, one] of (Array.isArray(details) ? details : []).entries()) {
    if (!isJsonObject(one)) continue;
    const key = `${typeof one.type === 'string' ? one.type : ''} ${typeof one.index === 'number' ? one.index : `at ${place}`}`;
    const known = merged.get(key) ?? { ...nothing, place };
    if (typeof one.text === 'string') known.text += one.text;
    if (typeof one.signature === 'string') known.signature = one.signature;
    if (typeof one.data === 'string') known.data = (known.data ?? '') + one.data;
    if (typeof one.format === 'string') known.format = one.format;
    if (typeof one.phase === 'string') known.phase = one.phase;
    merged.set(key, known);
  }
  return [...merged.values()];
}

const nothing: Detail = {
  place: 0,
  text: '',
  signature: undefined,
  data: undefined,
  format: undefined,
  phase: undefined,
};
