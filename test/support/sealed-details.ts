// `reasoning_details` as a client has them: signed or encrypted parts are sealed as the gateway returns them.
import type { Envelopes, SignedEnvelope } from '../../shared/protocol/wire/index.ts';

type Json = Record<string, unknown>;

const claudeOrigin = 'anthropic-claude-v1';

/**
 * Seals details. `model` is the one that generated them. The format names the host; without a format it is Claude's.
 */
export const sealedDetails = (details: readonly Json[], model: string, seal: Envelopes['seal']): Json[] =>
  details.map(({ signature, data, ...rest }) => {
    const { format: origin = claudeOrigin, id } = rest;
    const sealedWith = (fields: Partial<SignedEnvelope>) => seal({ origin: String(origin), model, ...fields });
    const of = typeof id === 'string' ? { of: { call: id } } : {};
    return {
      ...rest,
      ...(typeof signature === 'string' ? { signature: sealedWith({ signature }) } : {}),
      ...(typeof data === 'string'
        ? { data: sealedWith('of' in of ? { signature: data, ...of } : { encrypted: data }) }
        : {}),
    };
  });
