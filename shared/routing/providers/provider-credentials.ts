// Provider credentials of a deployed stage: a copy of the secret in memory, read again in the background while the old
// copy serves. Nothing secret stands in the function's environment, so `{env: NAME}` means NAME in the secret here.
import type { Log } from '../../foundation/log/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { StoreUnavailable } from '../../storage/store/index.ts';
import type { CredentialSource } from './credentials.ts';
import type { ReadSecret, SecretReading } from './provider-secret.ts';

/** How old a copy may be before it is read again: how long a rotation without a 401 takes to arrive. */
const secretFreshMs = 300_000;
/** After a failure. A cold instance answers 503 in the meantime and does not wait again in every request. */
const askAgainAfterFailureMs = 1_000;
/** A provider that keeps answering 401 must not turn each of its calls into one to Secrets Manager. */
const refreshSpacingMs = 10_000;

export interface ProviderCredentials extends CredentialSource {
  /**
   * Undefined: the provider is not configured. Throws StoreUnavailable for a provider that needs a credential while
   * none could be read since this instance started.
   */
  find: CredentialSource['find'];
  /** Before a plan: waits for the first copy of a cold instance, else not at all. Never rejects: `find` tells. */
  ready(): Promise<void>;
  /** When a provider refused our credential: reads at once, unless that was done a moment ago. Never rejects. */
  refresh(): Promise<void>;
}

export interface ProviderCredentialsOptions {
  readonly readSecret: ReadSecret;
  readonly clock: Clock;
  readonly log: Log;
}

export function providerCredentials({ readSecret, clock, log }: ProviderCredentialsOptions): ProviderCredentials {
  let values: ReadonlyMap<string, string> | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let askAgainAtMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    askedAtMs = clock.nowMs();
    try {
      values = valuesOf(await readSecret(), values, log);
      // The age counts from before the question: the answer may be old by the time it arrives.
      askAgainAtMs = askedAtMs + secretFreshMs;
    } catch (error) {
      log.error({ event: 'provider_secret_unreachable' }, error);
      askAgainAtMs = clock.nowMs() + askAgainAfterFailureMs;
    }
  }

  const askOnce = (): Promise<void> => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const askIfDue = (): Promise<void> | undefined => (clock.nowMs() < askAgainAtMs ? asking : askOnce());

  return {
    find({ auth }) {
      if (auth === 'none') return { authorization: undefined };
      if (!('bearer' in auth)) return undefined;
      void askIfDue();
      if (values === undefined) throw new StoreUnavailable('the provider credentials were not read yet');
      const credential = values.get('env' in auth.bearer ? auth.bearer.env : auth.bearer.secret);
      return credential === undefined ? undefined : { authorization: `Bearer ${credential}` };
    },
    async ready() {
      const asked = askIfDue();
      if (values === undefined) await asked;
    },
    async refresh() {
      if (clock.nowMs() - askedAtMs < refreshSpacingMs) await asking;
      else await askOnce();
    },
  };
}

/** A secret that somebody has just broken keeps serving as it was; one that was taken away serves nobody. */
function valuesOf(
  reading: SecretReading,
  former: ReadonlyMap<string, string> | undefined,
  log: Log,
): ReadonlyMap<string, string> {
  if (reading.kind !== 'values') log.error({ event: `provider_secret_${reading.kind}` });
  if (reading.kind === 'absent') return new Map();
  if (reading.kind === 'unreadable') return former ?? new Map();
  // Counted, not named: a key may stand where its name belongs.
  if (reading.unusable > 0) {
    log.error({ event: 'provider_secret_values_unusable', message: `${reading.unusable} values fit no header` });
  }
  return reading.values;
}
