// Reads the provider credentials of a deployed stage from a copy of the secret in memory. The copy is read again in the
// background while the old copy serves. The function's environment contains no secret, so here `{env: NAME}` means NAME
// in the secret.
import { type SecretReference, secretReferenceOf } from '../../configuration/catalogue/index.ts';
import type { Log } from '../../foundation/log/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { StoreUnavailable } from '../../storage/store/index.ts';
import { type CredentialSource, noCredential, storedCredential } from './credential-source.ts';
import type { ReadSecret, SecretReading } from './provider-secret.ts';

/** Age at which a copy is read again, and so the delay of a rotation without a 401. */
const secretFreshMs = 300_000;
/** Pause after a failure. Meanwhile a cold instance answers 503 and does not wait again in every request. */
const retryAfterFailureMs = 1_000;
/**
 * Shortest time between two refreshes, so that a provider that repeatedly answers 401 does not cause a call of Secrets
 * Manager for each of its calls.
 */
const refreshIntervalMs = 10_000;

export interface ProviderCredentials extends CredentialSource {
  /**
   * Finds the credential; undefined when the provider is not configured. Throws StoreUnavailable for a provider that
   * needs a credential while none could be read since this instance started.
   */
  find: CredentialSource['find'];
  /**
   * Called before a plan. Waits for the first copy of a cold instance, otherwise returns undefined. Never rejects,
   * because `find` throws the error.
   */
  ready(): Promise<void> | undefined;
  /**
   * Called when a provider refused the gateway's credential. Reads the secret at once, unless it was read a moment ago.
   * Never rejects.
   */
  refresh(): Promise<void>;
}

interface ProviderCredentialsOptions {
  readonly readSecret: ReadSecret;
  readonly clock: Clock;
  readonly log: Log;
}

export function providerCredentials({ readSecret, clock, log }: ProviderCredentialsOptions): ProviderCredentials {
  let values: ReadonlyMap<string, string> | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let dueAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    readAtMs = clock.nowMs();
    try {
      values = valuesOf(await readSecret(), values, log);
      // The age counts from before the request, because the answer may be old by the time it arrives.
      dueAtMs = readAtMs + secretFreshMs;
    } catch (error) {
      log.error({ event: 'provider_secret_unreachable' }, error);
      dueAtMs = clock.nowMs() + retryAfterFailureMs;
    }
  }

  const readOnce = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const readIfDue = (): Promise<void> | undefined => (clock.nowMs() < dueAtMs ? reading : readOnce());

  function secretOf(reference: SecretReference): string | undefined {
    void readIfDue();
    if (values === undefined) throw new StoreUnavailable(new Error('the provider credentials were not read yet'));
    return values.get('env' in reference ? reference.env : reference.secret);
  }

  return {
    secretOf,
    find({ auth }) {
      if (auth === 'none') return noCredential;
      const reference = secretReferenceOf(auth);
      if (reference === undefined) return undefined;
      const secret = secretOf(reference);
      return secret === undefined ? undefined : storedCredential(auth, secret);
    },
    async warm() {
      await readOnce();
      // After a failure the first call does not wait for this time.
      if (values === undefined) dueAtMs = Number.NEGATIVE_INFINITY;
    },
    ready() {
      const due = readIfDue();
      return values === undefined ? due : undefined;
    },
    async refresh() {
      if (clock.nowMs() - readAtMs < refreshIntervalMs) await reading;
      else await readOnce();
    },
  };
}

/** Returns the values. Former values stay in use while the secret cannot be read, but not after it was deleted. */
function valuesOf(
  reading: SecretReading,
  former: ReadonlyMap<string, string> | undefined,
  log: Log,
): ReadonlyMap<string, string> {
  if (reading.kind !== 'values') log.error({ event: `provider_secret_${reading.kind}` });
  if (reading.kind === 'absent') return new Map();
  if (reading.kind === 'unreadable') return former ?? new Map();
  // The values are counted, not named, because a key may have been put in the place of its name.
  if (reading.unusable > 0) {
    log.error({
      event: 'provider_secret_values_unusable',
      message: `${reading.unusable} values are neither a key nor the JSON of a service account`,
    });
  }
  return reading.values;
}
