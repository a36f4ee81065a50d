// Signed and encrypted thinking in a prompt. A part of a prompt carries it in the words of no package until the
// target is known: only who made it gets it back.
import type { LanguageModelV4Prompt, SharedV4ProviderMetadata, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { SignedEnvelope } from '../../../../protocol/wire/index.ts';
import type { AssistantPart } from './hub-call.ts';
import type { AnswerHead } from './hub-source.ts';
import type { HubTarget, Signed, SignedBy, SignedPart } from './hub-target.ts';

/** Left out: the client does not know it any more, so that every target may try. */
export interface SignedOrigin {
  /** Who can read it, as `originOf` of a target says. */
  readonly origin?: string;
  /** The model that made it, where only that one may have it back. */
  readonly model?: string;
  /** Its field in the client's request, where it came in an envelope. */
  readonly field?: string;
}

/** With its field in the client's request. */
export interface OpenedEnvelope extends SignedEnvelope {
  readonly field: string;
}

const ownName = 'gw';

/** For a part of a prompt. */
export const signedOptions = (signed: Signed & SignedOrigin): SharedV4ProviderOptions => ({ [ownName]: { ...signed } });

/** The same, of a part that came back in an envelope. */
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

/** For the text behind a thinking that came back. Undefined: its provider called it nothing. */
export const phaseOptions = ({ origin, model, phase }: SignedEnvelope): SharedV4ProviderOptions | undefined =>
  phase === undefined ? undefined : signedOptions({ origin, model, phase });

/** What the provider calls a text of its answer, as a target says it. */
export function phaseOf(
  part: { readonly providerMetadata?: SharedV4ProviderMetadata | undefined } | undefined,
): string | undefined {
  const phase = part?.providerMetadata?.[ownName]?.phase;
  return typeof phase === 'string' ? phase : undefined;
}

/** Of thinking that is not signed too: no other model may get it, and a relay knows that it is none of its provider's. */
export const sealed = (
  { origin, model, seal }: AnswerHead,
  { signature, encrypted, phase }: Signed,
  of?: SignedEnvelope['of'],
): string => seal({ origin, model, signature, encrypted, phase, of });

export const isSigned = (signed: Signed): boolean => Object.keys(signed).length > 0;

/** The prompt with what this model can read in the words of its package. Of what is left out, made by others, the first is told. */
export const withOwnSigned = (
  prompt: LanguageModelV4Prompt,
  target: Pick<HubTarget, 'originOf' | 'signedOptions'>,
  by: SignedBy,
): { readonly prompt: LanguageModelV4Prompt; readonly leftOut: readonly string[] } => {
  let foreign: string | undefined;
  const own = prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role !== 'assistant') return [message];
    for (const part of message.content) foreign ??= fieldOfForeign(part, target, by);
    const content = message.content.flatMap((part) => withOwn(part, target, by));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return { prompt: own, leftOut: foreign === undefined ? [] : [foreign] };
};

const isMadeBy = ({ origin, model }: SignedOrigin, { originOf }: Pick<HubTarget, 'originOf'>, by: SignedBy): boolean =>
  (origin === undefined || origin === originOf(by)) && (model === undefined || model === by.model);

/** Undefined: it came in no envelope, or in one of this model. */
function fieldOfForeign(part: AssistantPart, target: Pick<HubTarget, 'originOf'>, by: SignedBy): string | undefined {
  const sent = (part.providerOptions?.[ownName] ?? {}) as SignedOrigin;
  return isMadeBy(sent, target, by) ? undefined : sent.field;
}

const signedParts: readonly string[] = ['text', 'reasoning', 'tool-call', 'file'] satisfies SignedPart[];
const isSignedPart = (part: AssistantPart): part is Extract<AssistantPart, { type: SignedPart }> =>
  signedParts.includes(part.type);

function withOwn(
  part: AssistantPart,
  target: Pick<HubTarget, 'originOf' | 'signedOptions'>,
  by: SignedBy,
): AssistantPart[] {
  if (!isSignedPart(part)) return [part];
  const { [ownName]: sent, ...others } = part.providerOptions ?? {};
  const { origin, model, field: _field, ...signed } = (sent ?? {}) as Signed & SignedOrigin;
  const isOwn = isMadeBy({ origin, model } as SignedOrigin, target, by);
  // Its own thinking that is not signed may come back too: that is for the target to say.
  const isKnown = origin !== undefined || isSigned(signed);
  const own = isOwn && isKnown ? target.signedOptions(part.type, signed) : undefined;
  if (own === undefined && part.type === 'reasoning') return [];
  // It stood for its signature alone.
  if (own === undefined && part.type === 'text' && part.text === '') return [];
  const { providerOptions: _sent, ...rest } = part;
  const options = { ...others, ...own };
  return [Object.keys(options).length === 0 ? rest : { ...rest, providerOptions: options }];
}
