// `apply -f gateway.yaml`: changes the store to match the file, or with `--dry-run` shows the changes. Removals are
// shown and must be confirmed.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { calledName } from '../../../shared/accounting/call-records/index.ts';
import { poolOf } from '../../../shared/configuration/catalogue/index.ts';
import {
  ApplyInterrupted,
  destructiveChanges,
  type GatewayFilePlan,
  GatewayFileRefused,
  keepAppliedFile,
  planGatewayFile,
  type ReadFile,
  type ReadResult,
  readAppliedFile,
  readWithList,
  restoredKeys,
} from '../../../shared/configuration/gateway-file/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { emptyStore } from '../../../shared/storage/store/index.ts';
import { revokeBeforeNewProviders } from '../../local/demo/demo-gateway.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readText } from '../args/option-values.ts';
import { type CommandOutcome, confirm, type Session } from '../args/session.ts';
import { applyOutcome, problemsOutcome } from '../output/apply-outcome.ts';
import { describeFailure, isTableMissing } from '../output/describe-failure.ts';
import { readCredentialsFor } from '../target/credential-status.ts';
import type { OpenTarget } from '../target/open-store.ts';
import { openAdministration, sealingStoresOn } from '../target/stores.ts';
import { describeTarget } from '../target/target.ts';

export function addApply(program: CommandLine): void {
  program
    .command('apply')
    .description('make the store what a gateway file says; --dry-run only says what would change')
    .requiresOption('-f, --file <FILE>', 'the gateway file (YAML)', readText)
    .takesOption(
      '--dry-run',
      'write nothing: print each field that would change (old → new), and what would be filled in',
    )
    .asks()
    .notes(
      'Asks before it removes providers, models, connections or keys, and before a revoked key is active again.',
      'A second run changes nothing.',
      'Keys of BYOK connections (`key: {env: NAME}`) are read from the environment of this shell.',
      'A key without `key` in the file is made, and printed once.',
    )
    .does(apply);
}

interface ApplyCommandOptions {
  readonly file: string;
  readonly dryRun?: boolean;
}

async function apply(
  session: Session,
  { file: path, dryRun: isDry = false }: ApplyCommandOptions,
): Promise<CommandOutcome> {
  const read = await readFileAt(path, session.variables.AWS_REGION);
  if (!read.ok) return problemsOutcome(path, read.problems);
  const opened = await session.open({ writes: !isDry, missing: isDry ? 'empty' : 'made' });
  if (!isDry) await opened.prepareTables();
  session.terminal.showProgress('comparing …');
  const compared = await planFile(session, opened, read).catch(refusalOf);
  if (compared instanceof GatewayFileRefused) return problemsOutcome(path, compared.problems);
  const restored = restoredKeys(compared.changes);
  const stayRevoked = compared.revokedKeys.filter((key) => !restored.includes(key));
  const missing = await credentialNotes(session, opened, compared);
  const plan = {
    ...compared,
    notes: [...compared.notes, ...stayRevoked.map((key) => `${key} was revoked and stays revoked`), ...missing],
  };
  if (isDry) return applyOutcome({ ...plan, isDry, createdKeys: [] });
  await confirmChanges(session, plan);
  session.terminal.showProgress('applying …');
  const { providers } = plan.catalogue;
  const isStage = session.target.kind === 'stage';
  const revoked = isStage ? [] : await revokeBeforeNewProviders(await openAdministration(session), providers);
  const outcome = await carryOut(session, { ...plan, notes: [...plan.notes, ...revoked] });
  if (!isStage && outcome.failure === undefined) await keepForStart(opened, read, { path: resolve(path), plan });
  return outcome;
}

/**
 * Stores the applied file, so that the next start can compare its own file with it. A file other than the file of the
 * starts does not replace the stored file of the starts. Its changes count as an operator's changes.
 */
async function keepForStart(
  { store }: OpenTarget,
  read: ReadFile,
  { path, plan: { modelIds } }: { readonly path: string; readonly plan: GatewayFilePlan },
): Promise<void> {
  const appliedFile = await readAppliedFile(store);
  if (appliedFile === undefined || appliedFile.path === path) await keepAppliedFile(store, read, { path, modelIds });
}

async function confirmChanges(session: Session, { changes }: GatewayFilePlan): Promise<void> {
  const [removed, restored] = [destructiveChanges(changes), restoredKeys(changes)];
  const target = describeTarget(session.target);
  if (removed.length > 0) {
    const what = removed.length === 1 ? 'something' : `${removed.length} things`;
    await confirm(session, `take ${what} away from ${target} (${removed.join('; ')})`);
  }
  if (restored.length > 0) await confirm(session, `bring back what was revoked in ${target} (${restored.join('; ')})`);
}

function refusalOf(error: unknown): GatewayFileRefused {
  if (error instanceof GatewayFileRefused) return error;
  throw error;
}

/** Describes missing credentials, because every call skips a provider without a credential, without an error. */
async function credentialNotes(
  session: Session,
  opened: OpenTarget,
  { catalogue }: GatewayFilePlan,
): Promise<string[]> {
  const providers = catalogue.providers.filter(({ status }) => status === 'enabled').flatMap(poolOf);
  const { missing, unknown } = await readCredentialsFor(session, opened, providers);
  const lines = providers.flatMap((provider) => {
    const what = missing(provider);
    const name = calledName({ ...provider, provider: provider.id });
    return what === undefined ? [] : [`provider ${name} has no credential, no call goes there: ${what}`];
  });
  return unknown === undefined ? lines : [...lines, `credentials of providers could not be looked at: ${unknown}`];
}

async function readFileAt(path: string, region: string | undefined): Promise<ReadResult> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`cannot read the gateway file ${path}`);
  return readWithList(text, { region });
}

async function planFile(session: Session, opened: OpenTarget, { file, lineOf }: ReadFile): Promise<GatewayFilePlan> {
  const { variables, randomness, clock } = session;
  const planOn = (store: Store) =>
    planGatewayFile({
      file,
      lineOf,
      readVariable: (name) => variables[name],
      randomness,
      nowMs: clock.nowMs(),
      region: opened.access?.region,
      stores: sealingStoresOn(store, opened),
    });
  try {
    return await planOn(opened.store);
  } catch (error) {
    // A dry run creates no tables. A store of this machine without tables counts as empty; a stage must be deployed
    // first.
    if (session.target.kind === 'stage' || !isTableMissing(error)) throw error;
    return planOn(emptyStore);
  }
}

async function carryOut(session: Session, plan: GatewayFilePlan): Promise<CommandOutcome> {
  try {
    return applyOutcome({ ...(await plan.apply()), filled: plan.filled, notes: plan.notes, isDry: false });
  } catch (error) {
    if (!(error instanceof ApplyInterrupted)) throw error;
    const { report, cause } = error;
    const reason = describeFailure(cause, session.target);
    return {
      ...applyOutcome({ ...report, filled: plan.filled, notes: plan.notes, isDry: false }),
      failure: `applied in part, run it again for the rest: ${reason}`,
    };
  }
}
