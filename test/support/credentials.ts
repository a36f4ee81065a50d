import type { CredentialSource } from '../../shared/routing/providers/index.ts';

/** Returns credentials that exist from the start and never change. */
export const credentialsOf = (find: CredentialSource['find']): CredentialSource => ({
  find,
  secretOf: () => undefined,
  warm: async () => {},
  ready: async () => {},
  refresh: async () => {},
});
