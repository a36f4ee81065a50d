// Carries signed and encrypted thinking in a prompt. Until the target is known, a part of a prompt carries this
// thinking in no package's format, because only the model or provider that made the thinking gets it back.
import type { LanguageModelV4Prompt, SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { SignedEnvelope } from '../wire/index.ts';
import type { AssistantPart } from './hub-call.ts';
import type { AnswerHead } from './hub-source.ts';
import type { Signatures, SignedPart, SignedThinking, Signer } from './signatures.ts';

/** Origin of a signature; absent if the client no longer knows it, so that every target may try. */
interface SignedOrigin {
  /** The group of models that can read it, as `originOf` of a target returns it. */
  readonly origin?: string;
  /** The model that made it, if only this model may get it back. */
  readonly model?: string;
  /** The field that it had in the client's request, if it was in an envelope. */
  readonly field?: string;
}

/** An envelope with its field in the client's request. */
export interface OpenedEnvelope extends SignedEnvelope {
  readonly field: string;
}

const ownName = 'gw';

/** Returns options for a part of a prompt. */
export const signedOptions = (signed: SignedThinking & SignedOrigin): SharedV4ProviderOptions => ({
  [ownName]: { ...signed },
});

/** Returns the options of a signed part that was in an envelope. */
export const envelopeOptions = ({
  origin,
  model,
  signature,
  encrypted,
  field,
}: OpenedEnvelope): SharedV4ProviderOptions =>
  signedOptions({
    origin,
    model,
    field,
    ...(signature === undefined ? {} : { signature }),
    ...(encrypted === undefined ? {} : { encrypted }),
  });

/** Returns options for the text after thinking that is sent again; undefined if its provider named no phase. */
export const phaseOptions = ({ origin, model, phase }: SignedEnvelope): SharedV4ProviderOptions | undefined =>
  phase === undefined ? undefined : signedOptions({ origin, model, phase });

/** Returns the provider's phase of a text in its answer, as a target reads it. */
export function phaseOf(
  part: { readonly providerMetadata?: SharedV4ProviderMetadata | undefined } | undefined,
): string | undefined {
  const phase = part?.providerMetadata?.[ownName]?.phase;
  return typeof phase === 'string' ? phase : undefined;
}

/** Returns the envelope. Unsigned thinking is sealed too, because it must not reach another model. */
export const sealSigned = (
  { origin, model, seal }: AnswerHead,
  { signature, encrypted, phase }: SignedThinking,
  of?: SignedEnvelope['of'],
): string => seal({ origin, model, signature, encrypted, phase, of });

export const isSigned = (signed: SignedThinking): boolean => Object.keys(signed).length > 0;

/**
 * Returns the prompt with the signatures that this model can read, in its package's format. Other models' signatures
 * are dropped, and the first of them is reported.
 */
export const withOwnSigned = (
  prompt: LanguageModelV4Prompt,
  target: Pick<Signatures, 'originOf' | 'signedOptions'>,
  by: Signer,
): { readonly prompt: LanguageModelV4Prompt; readonly leftOut: readonly string[] } => {
  let foreign: string | undefined;
  const targetPrompt = prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role !== 'assistant') return [message];
    for (const part of message.content) foreign ??= fieldOfForeign(part, target, by);
    const content = message.content.flatMap((part) => withOwn(part, target, by));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return { prompt: targetPrompt, leftOut: foreign === undefined ? [] : [foreign] };
};

const isMadeBy = ({ origin, model }: SignedOrigin, { originOf }: Pick<Signatures, 'originOf'>, by: Signer): boolean =>
  (origin === undefined || origin === originOf(by)) && (model === undefined || model === by.model);

/** Returns the field; undefined for a part without an envelope, or with an envelope of this model. */
function fieldOfForeign(part: AssistantPart, target: Pick<Signatures, 'originOf'>, by: Signer): string | undefined {
  const origin = (part.providerOptions?.[ownName] ?? {}) as SignedOrigin;
  return isMadeBy(origin, target, by) ? undefined : origin.field;
}

const signedParts: readonly string[] = ['text', 'reasoning', 'tool-call', 'file'] satisfies SignedPart[];
const isSignedPart = (part: AssistantPart): part is Extract<AssistantPart, { type: SignedPart }> =>
  signedParts.includes(part.type);

function withOwn(
  part: AssistantPart,
  target: Pick<Signatures, 'originOf' | 'signedOptions'>,
  by: Signer,
): AssistantPart[] {
  if (!isSignedPart(part)) return [part];
  const { [ownName]: ownOptions, ...others } = part.providerOptions ?? {};
  const { origin, model, field: _field, ...signed } = (ownOptions ?? {}) as SignedThinking & SignedOrigin;
  const isSignedByTarget = isMadeBy({ origin, model } as SignedOrigin, target, by);
  // The target decides whether the model's own unsigned thinking is sent again.
  const isKnown = origin !== undefined || isSigned(signed);
  const signedOptions = isSignedByTarget && isKnown ? target.signedOptions(part.type, signed) : undefined;
  if (signedOptions === undefined && part.type === 'reasoning') return [];
  // An empty text carried only its signature.
  if (signedOptions === undefined && part.type === 'text' && part.text === '') return [];
  const { providerOptions: _providerOptions, ...rest } = part;
  const options = { ...others, ...signedOptions };
  return [Object.keys(options).length === 0 ? rest : { ...rest, providerOptions: options }];
}
