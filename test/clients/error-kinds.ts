// One failing call of each kind, as a client sees it.
import type { Harness } from '../support/harness.ts';
import { type ProviderName, poorKey, upstreams } from './client-gateway.ts';

export interface ErrorKind {
  /** The failure and its status. */
  readonly title: string;
  readonly model: string;
  readonly keyOf: (gateway: Harness) => string;
  /** The code in OpenAI's form. */
  readonly code: string;
  /** A part of the message. */
  readonly says: string;
  /** A part of the message on Messages, if it differs. */
  readonly saysOnMessages?: string;
  /** Whether the same request cannot succeed, so that one request is enough. */
  readonly isFinal: boolean;
}

const kind = (title: string, model: string, code: string, says: string, more: Partial<ErrorKind> = {}): ErrorKind => ({
  title,
  model,
  code,
  says,
  keyOf: ({ key }) => key,
  isFinal: true,
  ...more,
});

const unknownKey = 'sk-gw-0000000000000000-nobody';

/** The kind whose code and message the table of clients shows. */
export const exampleTitle = 'model is unknown (400)';

export const errorKinds: readonly ErrorKind[] = [
  kind('key is wrong (401)', 'acme/echo', 'UNAUTHORIZED', 'API key', { keyOf: () => unknownKey }),
  kind('model is unknown (400)', 'acme/ecko', 'unknown_model', 'acme/echo'),
  kind(
    'prompt is too long (400)',
    'acme/too-long',
    'context_length_exceeded',
    'maximum context length is 128000 tokens',
    { saysOnMessages: 'prompt is too long: 9001 tokens > 8192' },
  ),
  kind('no credit (402)', 'acme/echo', 'PAYMENT_REQUIRED', 'The call may cost', { keyOf: () => poorKey }),
  kind('no credential set up (503)', 'acme/unconfigured', 'provider_not_configured', 'credential'),
  kind('provider refuses ours (502)', 'acme/refused', 'no_available_provider', 'credential'),
  kind('our account has no quota (502)', 'acme/no-quota', 'no_available_provider', 'quota'),
  kind('limited for 90 s (429)', 'acme/limited-for-long', 'rate_limited', 'try again in 90 s'),
  kind('limited for 30 s (429)', 'acme/limited', 'rate_limited', 'try again in 30 s', { isFinal: false }),
  kind('provider fails (502)', 'acme/failing', 'no_available_provider', 'failed', { isFinal: false }),
];

/** Returns the kinds that depend on a provider, for this provider: they have the same messages and the same codes. */
export const kindsAt = (provider: ProviderName): readonly ErrorKind[] =>
  errorKinds.flatMap((one) => {
    const [, behaviour = ''] = one.model.split('/');
    return behaviour !== 'echo' && behaviour in upstreams ? [{ ...one, model: `${provider}/${behaviour}` }] : [];
  });
