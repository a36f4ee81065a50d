// Checks that a request came through the edge, where the distribution adds a secret header. The accepted secrets are
// read while the process runs, so that a version of the code continues to serve when the secrets change. The check
// keeps callers from bypassing the edge, and does not replace authentication by API key.
import { directOrigin, headerNames } from '../../foundation/constants/index.ts';
import { equalInConstantTime, sha256Hex } from '../../foundation/ids/index.ts';
import type { Log } from '../../foundation/log/index.ts';
import { type Clock, waitAtMost } from '../../foundation/time/index.ts';
import { StoreUnavailable } from '../../storage/store/index.ts';
import type { HeaderValues } from './exchange.ts';

export interface OriginCheck {
  /** Rejects with StoreUnavailable if nothing accepts the request and the secrets cannot be read. */
  accepts(headers: HeaderValues): boolean | Promise<boolean>;
  /** Reads the secrets while the process starts. A failure is dropped. Never rejects. */
  warm(): Promise<void>;
}

/** The check of a stage without an edge, which accepts every request. */
export const anyOrigin: OriginCheck = { accepts: () => true, warm: async () => {} };

/** Age at which the secrets are read again, and so the time for which a removed secret is still accepted. */
const freshMs = 300_000;
/** Time for which a request waits for a new read of the secrets; afterwards the former secrets decide. */
const refreshWaitMs = 500;
const retryAfterFailureMs = 1_000;
/**
 * Shortest time between two reads for unknown secrets. An unknown secret may be new, so it is looked up, but callers
 * who invent secrets must not cause a read for each secret.
 */
const lookUpIntervalMs = 5_000;

interface OriginCheckOptions {
  /** Accepted secrets, comma-separated; `directOrigin` among them accepts every request. */
  readonly readSecrets: () => Promise<string>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createOriginCheck({ readSecrets, clock, log }: OriginCheckOptions): OriginCheck {
  let accepted: AcceptedOrigins | undefined;
  let dueAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<Failure> | undefined;
  let lookUp: Promise<Failure> | undefined;
  let nextLookUpAtMs = Number.NEGATIVE_INFINITY;

  async function read(): Promise<Failure> {
    const startedAtMs = clock.nowMs();
    try {
      accepted = parse(await readSecrets());
      // The age counts from before the request, because the answer may be old by the time it arrives.
      dueAtMs = startedAtMs + freshMs;
      return undefined;
    } catch (cause) {
      log.error({ event: 'origin_secret_unreachable' }, cause);
      dueAtMs = clock.nowMs() + retryAfterFailureMs;
      return { cause };
    }
  }

  const readOnce = (): Promise<Failure> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  async function refresh(): Promise<void> {
    const isDue = clock.nowMs() >= dueAtMs;
    const current = isDue ? readOnce() : reading;
    if (accepted === undefined) await current;
    else if (isDue)
      await waitAtMost(
        clock,
        refreshWaitMs,
        readOnce().then(() => {}),
        () => {},
      );
  }

  async function lookUpAnew(): Promise<Failure> {
    // A read that is under way may have started before the secrets changed.
    await reading;
    const failure = await readOnce();
    if (failure !== undefined) nextLookUpAtMs = clock.nowMs() + retryAfterFailureMs;
    return failure;
  }

  async function acceptsAnew(headers: HeaderValues): Promise<boolean> {
    await refresh();
    if (accepted === undefined) throw new StoreUnavailable(new Error('the origin secrets were not read yet'));
    const values = headers[headerNames.originSecret] ?? [];
    if (isAccepted(accepted, values)) return true;
    if (values.length !== 1) return false;
    if (clock.nowMs() >= nextLookUpAtMs) {
      nextLookUpAtMs = clock.nowMs() + lookUpIntervalMs;
      lookUp = lookUpAnew();
    }
    const failure = await lookUp;
    if (isAccepted(accepted, values)) return true;
    if (failure !== undefined) throw new StoreUnavailable(failure.cause);
    return false;
  }

  return {
    accepts(headers) {
      const values = headers[headerNames.originSecret] ?? [];
      const isFresh = reading === undefined && clock.nowMs() < dueAtMs;
      return (isFresh && accepted !== undefined && isAccepted(accepted, values)) || acceptsAnew(headers);
    },
    async warm() {
      await readOnce();
      // After a failure the first call does not wait for this time.
      if (accepted === undefined) dueAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The failure of a read; undefined after a success. */
type Failure = { readonly cause: unknown } | undefined;

interface AcceptedOrigins {
  readonly isOpen: boolean;
  /** SHA-256 in hex, because the secrets themselves are not stored. */
  readonly hashes: readonly string[];
}

/** Matches letters and digits, as Secrets Manager generates them. */
const secretShape = /^[0-9A-Za-z]{32,128}$/;

/** Parses the secrets. Throws for a text without accepted secrets, or for a value that can be guessed. */
function parse(text: string): AcceptedOrigins {
  const parts = text.split(',');
  const secrets = parts.filter((part) => part !== directOrigin);
  if (!secrets.every((secret) => secretShape.test(secret)))
    throw new Error('the text of the origin secrets is malformed');
  return { isOpen: secrets.length < parts.length, hashes: secrets.map(sha256Hex) };
}

function isAccepted({ isOpen, hashes }: AcceptedOrigins, values: readonly string[]): boolean {
  if (isOpen) return true;
  const [secret, ...others] = values;
  if (secret === undefined || others.length > 0) return false;
  const hash = sha256Hex(secret);
  // Every hash is compared, so that the time does not reveal which hash matches.
  return hashes.map((known) => equalInConstantTime(known, hash)).includes(true);
}
