// Finds providers for which the gateway has no credential, as far as this shell can know. The sources are the secret of
// a stage, the latest report of a gateway on a local store, and without a report the variables of this shell.

import {
  accountOf,
  type CalledProvider,
  type ProviderDocument,
  secretReferenceOf,
} from '../../../shared/configuration/catalogue/index.ts';
import { programs } from '../../../shared/foundation/constants/index.ts';
import { credentialName, faultOfSecret } from '../../../shared/routing/providers/index.ts';
import { readCredentialReport } from '../../local/credential-report.ts';
import type { Session } from '../args/session.ts';
import { describeFailure } from '../output/describe-failure.ts';
import { oneLine } from '../output/format.ts';
import type { OpenTarget } from './open-store.ts';
import { describeTarget } from './target.ts';

interface CredentialStatus {
  /** Describes the missing credential, with advice; undefined when it is present, or unknown. */
  missing(provider: CalledProvider): string | undefined;
  /** Reason why nothing is known. */
  readonly unknown?: string;
}

const namesCredential = ({ auth }: ProviderDocument): boolean => credentialName(auth) !== undefined;

/** Reads the status for a running gateway. `providers` are the providers to check. */
export async function readCredentialStatus(
  session: Session,
  opened: OpenTarget,
  providers: readonly ProviderDocument[],
): Promise<CredentialStatus> {
  if (session.target.kind === 'stage') return readStageCredentials(session, opened, providers);
  const report = await readCredentialReport(opened.store);
  const shell = shellCredentials(session);
  return {
    missing(provider) {
      if (report?.present.includes(accountOf(provider)) === true) return undefined;
      if (report?.missing.includes(accountOf(provider)) !== true) return shell.missing(provider);
      const name = credentialName(provider.auth);
      const what = name === undefined ? 'there were no AWS credentials' : `${name} was not set`;
      return `${what} when the gateway started`;
    },
  };
}

/** Reads the status for a file that is about to be applied. */
export async function readCredentialsFor(
  session: Session,
  opened: OpenTarget,
  providers: readonly ProviderDocument[],
): Promise<CredentialStatus> {
  if (session.target.kind === 'stage') return readStageCredentials(session, opened, providers);
  return shellCredentials(session);
}

const shellCredentials = ({ variables }: Session): CredentialStatus => ({
  missing({ auth }) {
    const name = credentialName(auth);
    const fault = name === undefined ? undefined : faultOfSecret(auth, variables[name]);
    if (fault === undefined) return undefined;
    const reference = secretReferenceOf(auth);
    return reference !== undefined && 'secret' in reference
      ? `a local gateway reads no secrets: write env: NAME in place of secret: ${name}`
      : `${name} ${fault} here: set it where the gateway is started`;
  },
});

async function readStageCredentials(
  { target }: Session,
  { access, stage }: OpenTarget,
  providers: readonly ProviderDocument[],
): Promise<CredentialStatus> {
  if (access === undefined || !providers.some(namesCredential)) return { missing: () => undefined };
  // This module is not imported at the head of the file, because it loads an SDK client that no local command uses.
  const { openProviderSecret } = await import('./open-provider-secret.ts');
  const secret = await openProviderSecret(access, stage);
  try {
    const storedSecrets = await secret.read();
    return {
      missing({ auth }) {
        const name = credentialName(auth);
        if (name === undefined || (typeof storedSecrets.get(name) === 'string' && storedSecrets.get(name) !== ''))
          return undefined;
        return `${name} is not stored: ${programs.commandLine} credentials set ${name} --${describeTarget(target)}`;
      },
    };
  } catch (error) {
    return { missing: () => undefined, unknown: oneLine(describeFailure(error, target)) };
  } finally {
    secret.close();
  }
}
