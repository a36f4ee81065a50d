import type { Fingerprint } from '../../shared/accounting/idempotency/index.ts';

/** Returns the fingerprint of inputs that have a name: only equal names have equal hashes. */
export const fingerprintNamed = (hash: string, version = 1): Fingerprint => ({
  version,
  hash,
  hashOf: (wantedVersion) => (wantedVersion === version ? hash : undefined),
});
