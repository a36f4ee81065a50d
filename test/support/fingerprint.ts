import type { Fingerprint } from '../../shared/accounting/idempotency/index.ts';

/** Of inputs that have a name: only equal names hash alike. */
export const fingerprintNamed = (hash: string, version = 1): Fingerprint => ({
  version,
  hash,
  hashOf: (wantedVersion) => (wantedVersion === version ? hash : undefined),
});
