// Reports providers without a credential. Every plan skips them, so calls use other providers and nothing fails. The
// log informs the operator when the process starts and whenever the catalogue has changed.
import {
  accountOf,
  type CalledProvider,
  type Catalogue,
  poolOf,
  secretReferenceOf,
} from '../../configuration/catalogue/index.ts';
import type { Log } from '../../foundation/log/index.ts';
import type { CredentialSource } from './credential-source.ts';

export interface CredentialCheck {
  /** Logs newly missing credentials. The call is cheap for an unchanged catalogue, does no I/O, and never throws. */
  look(catalogue: Catalogue): void;
}

/** Credentials of providers that are not disabled. */
export interface CheckedCredentials {
  readonly present: readonly string[];
  readonly missing: readonly string[];
}

interface CredentialCheckOptions {
  readonly credentials: CredentialSource;
  readonly log: Log;
  /** Called after every check of a changed catalogue. */
  readonly onChecked?: ((checked: CheckedCredentials) => void) | undefined;
}

export function createCredentialCheck({ credentials, log, onChecked }: CredentialCheckOptions): CredentialCheck {
  let looked: Catalogue | undefined;
  let known: readonly string[] = [];

  /** Returns undefined when the credentials could not be read yet. */
  function findMissing(providers: readonly CalledProvider[]): readonly CalledProvider[] | undefined {
    try {
      return providers.filter((provider) => credentials.find(provider) === undefined);
    } catch {
      return undefined;
    }
  }

  return {
    look(catalogue) {
      if (catalogue === looked) return;
      const enabled = [...catalogue.providers.values()].filter(({ status }) => status === 'enabled').flatMap(poolOf);
      const missing = findMissing(enabled);
      if (missing === undefined) return;
      looked = catalogue;
      for (const provider of missing.filter((one) => !known.includes(accountOf(one)))) {
        const message = `${describeReference(provider.auth, credentials.faultOf?.(provider))}: no call goes there`;
        const { id, credential } = provider;
        log.error({ event: 'provider_without_credential', provider: id, credential, message });
      }
      known = missing.map(accountOf);
      const present = enabled.map(accountOf).filter((name) => !known.includes(name));
      onChecked?.({ present, missing: known });
    },
  };
}

function describeReference(auth: CalledProvider['auth'], fault = 'is not set'): string {
  const name = credentialName(auth);
  return name === undefined ? 'the process has no AWS credentials' : `the gateway file names ${name}, which ${fault}`;
}

/**
 * Returns the name of the credential in the file, which is a variable or a name in the secret of a stage; undefined for
 * none.
 */
export function credentialName(auth: CalledProvider['auth']): string | undefined {
  const reference = secretReferenceOf(auth);
  return reference && ('env' in reference ? reference.env : reference.secret);
}
