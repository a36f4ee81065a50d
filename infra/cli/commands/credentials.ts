// `credentials set`: writes a provider credential into the secret of a stage. The credential is read from standard
// input, so that it is in no process list and no shell history, and it is never printed.

import { poolOf } from '../../../shared/configuration/catalogue/index.ts';
import { looksLikeCredential } from '../../../shared/configuration/gateway-file/index.ts';
import { programs } from '../../../shared/foundation/constants/index.ts';
import { credentialName, isProviderCredential } from '../../../shared/routing/providers/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { UsageError } from '../args/option-values.ts';
import { type CommandOutcome, confirm, type Session } from '../args/session.ts';
import { openAdministration } from '../target/stores.ts';
import { requireStage } from '../target/target.ts';

export function addCredentials(program: CommandLine): void {
  const credentials = program.command('credentials').description('provider credentials of a stage');
  credentials
    .command('set')
    .description('store a provider credential for a stage; reads it from standard input')
    .takesArgument('NAME', readSecretName)
    .asks()
    .notes(
      'NAME is what the gateway file calls it: acme for `bearer: {secret: acme}`, ACME_API_KEY for `bearer: {env: ACME_API_KEY}`.',
      `Example: ${programs.commandLine} credentials set acme --stage dev < acme.key`,
      'A running stage uses it after five minutes at the latest. Local runs read environment variables instead.',
    )
    .does(setCredential);
}

/** Parses the name of a secret as the gateway file writes it. The name is also valid for a variable. */
function readSecretName(name: string, text: string): string {
  if (/^[A-Za-z0-9/_+=.@-]{1,256}$/.test(text) && !looksLikeCredential(text)) return text;
  throw new UsageError(
    `${name} is the name of a secret, 1 to 256 characters without blanks; the credential itself is read from standard input`,
  );
}

async function setCredential(session: Session, name: string): Promise<CommandOutcome> {
  const { terminal } = session;
  const target = requireStage(
    session.target,
    'local runs read provider credentials from environment variables, set those',
  );
  const credential = (await terminal.readSecret(`credential ${name} (not shown): `)).replace(/\r?\n$/, '');
  if (!isProviderCredential(credential)) {
    throw new Error(
      'standard input must hold the credential and nothing else: 1 to 4096 visible ASCII characters, or the JSON of a service account',
    );
  }
  const opened = await session.open({ writes: true });
  if (opened.access === undefined) throw new Error('a stage is opened with the access of the shell');
  // This module is not imported at the head of the file, because it loads an SDK client that no local command uses.
  const { openProviderSecret } = await import('../target/open-provider-secret.ts');
  const secret = await openProviderSecret(opened.access, target.stage);
  try {
    const credentials = new Map(await secret.read());
    const former = credentials.get(name);
    const change = former === undefined ? 'created' : former === credential ? 'unchanged' : 'changed';
    if (change === 'changed') await confirm(session, `replace the credential ${name} of stage ${target.stage}`);
    if (change !== 'unchanged') await secret.write(credentials.set(name, credential));
    const note = (await isNamed(session, name)) ? [] : [`note: the applied gateway file names no ${name}`];
    return {
      json: { stage: target.stage, name, change, notes: note },
      lines: () => [`credential ${name} of stage ${target.stage}: ${change}`, ...note],
    };
  } finally {
    secret.close();
  }
}

/** Returns true also if the catalogue cannot be read, because the credential is stored, and the note is only a hint. */
async function isNamed(session: Session, name: string): Promise<boolean> {
  const { catalogues } = await openAdministration(session);
  const document = await catalogues.read().catch(() => undefined);
  if (document === undefined) return true;
  const { url, secret } = document.service.alerts ?? {};
  const isAlertCredential = [url, secret].some(
    (reference) => reference !== undefined && ('env' in reference ? reference.env : reference.secret) === name,
  );
  return isAlertCredential || document.providers.flatMap(poolOf).some(({ auth }) => credentialName(auth) === name);
}
