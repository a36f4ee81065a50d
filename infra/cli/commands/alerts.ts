// `alerts test`: sends one alert to the receiver that the stored gateway file names, and prints the receiver's answer.
import { sendTestAlert } from '../../../shared/accounting/alerts/index.ts';
import type { SecretReference } from '../../../shared/configuration/catalogue/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { openAdministration } from '../target/stores.ts';

export function addAlerts(program: CommandLine): void {
  const alerts = program.command('alerts').description('alerts of spending and of providers');
  alerts
    .command('test')
    .description('send a test alert to the receiver of service.alerts')
    .notes(
      'For a stage, URL and secret are read from its credentials; else from the variables of this shell, as a gateway reads them.',
      'Exit 1 where the receiver did not take it.',
    )
    .does(testAlert);
}

async function testAlert(session: Session): Promise<CommandOutcome> {
  const { catalogues } = await openAdministration(session);
  const document = await catalogues.read();
  const settings = document?.service.alerts;
  if (settings == null) throw new Error('the applied gateway file has no service.alerts');
  const { url, secret } = settings;
  const secretOf = await openSecrets(session);
  const receiver = { url: secretOf(url), secret: secret === undefined ? null : secretOf(secret) };
  const delivery = await sendTestAlert(receiver, session);
  const { id, status, fault } = delivery;
  return {
    json: delivery,
    lines: () => (fault === null ? [`test alert ${id}: the receiver took it, status ${status}`] : []),
    ...(fault === null ? {} : { failure: `test alert ${id}: ${fault}` }),
  };
}

/** Opens the secrets. The result is undefined for a name that is not set. */
async function openSecrets(session: Session): Promise<(reference: SecretReference) => string | undefined> {
  const { variables, target } = session;
  const { access, stage } = await session.open();
  if (target.kind !== 'stage' || access === undefined) {
    return (reference) => ('env' in reference ? variables[reference.env] : undefined);
  }
  // This module is not imported at the head of the file, because it loads an SDK client that no local command uses.
  const { openProviderSecret } = await import('../target/open-provider-secret.ts');
  const storedSecret = await openProviderSecret(access, stage);
  try {
    const values = await storedSecret.read();
    return (reference) => {
      const value = values.get('env' in reference ? reference.env : reference.secret);
      return typeof value === 'string' ? value : undefined;
    };
  } finally {
    storedSecret.close();
  }
}
