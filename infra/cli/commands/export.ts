// Exports the gateway file of the store, as text for people and as JSON for programs (`export`).
import { exportGatewayFile, gatewayFileText } from '../../../shared/configuration/gateway-file/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { openAdministration, sealingStoresOn } from '../target/stores.ts';

export function addExport(program: CommandLine): void {
  program
    .command('export')
    .description('the gateway file (YAML) of what is stored, without secrets')
    .notes(
      'Applied to the same store it changes nothing; applied to another one it makes new keys.',
      'Left out, with a note: what names a model, provider or guardrail that is gone. It stays as it is stored.',
      'Revoked keys are left out. A BYOK key is written as the variable that it came from: set that variable where the file is applied.',
    )
    .takesOption('--full', 'also write what the kind of a provider and the model list fill in')
    .does(exportFile);
}

async function exportFile(
  session: Session,
  { full: isFull = false }: { readonly full?: boolean },
): Promise<CommandOutcome> {
  const opened = await session.open();
  const { connectionStore } = sealingStoresOn(opened.store, opened);
  const stores = { ...(await openAdministration(session)), connectionStore };
  session.terminal.showProgress('reading what is stored …');
  const { file, notes } = await exportGatewayFile(stores, await stores.catalogues.read(), { isFull });
  for (const note of notes) session.terminal.writeError(`note: ${note}`);
  return {
    json: file,
    lines: () => gatewayFileText(file).trimEnd().split('\n'),
  };
}
