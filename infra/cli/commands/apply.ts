// `apply -f gateway.yaml`: brings the store to what the file says, or with `--dry-run` says what that would change. What it
// takes away is shown and asked about.
import { readFile } from 'node:fs/promises';
import {
  ApplyInterrupted,
  applyGatewayFile,
  emptyStore,
  type GatewayFile,
  type ReadResult,
  type Rehearsal,
  type RehearsedChange,
  type ResourceChange,
  readGatewayFile,
  rehearseGatewayFile,
} from '../../../shared/configuration/gateway-file/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readText } from '../args/option-values.ts';
import { confirm, type Outcome, type Session } from '../args/session.ts';
import { applyOutcome, problemsOutcome } from '../output/apply-outcome.ts';
import { describeFailure, isTableMissing } from '../output/describe-failure.ts';
import { lazyKeyWrapper, rehearsalKeyWrapper } from '../target/key-wrappers.ts';
import type { OpenTarget } from '../target/open-target.ts';
import { sealingStoresOn } from '../target/stores.ts';
import { describeTarget } from '../target/target.ts';
import { removedBy, restoredBy } from './destructive-changes.ts';

export function addApply(program: CommandLine): void {
  program
    .command('apply')
    .description('make the store what a gateway file says; --dry-run only says what would change')
    .requiresOption('-f, --file <FILE>', 'the gateway file (YAML)', readText)
    .takesOption('--dry-run', 'write nothing: print every member that would change, old → new')
    .asks()
    .notes(
      'Asks before providers, models, connections or keys are taken away, and before a revoked key comes back.',
      'A second run changes nothing.',
      'Keys of BYOK connections, `key: {env: NAME}`, are read from the variables of this shell.',
      'Keys that the file does not give are made and printed once.',
    )
    .does(apply);
}

interface ApplyCommandOptions {
  readonly file: string;
  readonly dryRun?: boolean;
}

async function apply(session: Session, { file: path, dryRun: isDry = false }: ApplyCommandOptions): Promise<Outcome> {
  const read = await readFileAt(path);
  if (!read.ok) return problemsOutcome(path, read.problems);
  const { file } = read;
  const opened = await session.open({ writes: !isDry, creates: !isDry });
  if (!isDry) await opened.prepareTables();
  session.terminal.showProgress('comparing …');
  const rehearsal = await dryRun(session, opened, file);
  if (isDry) return applyOutcome({ ...rehearsal, isDry, createdKeys: [] });
  await confirmChanges(session, rehearsal);
  session.terminal.showProgress('applying …');
  return write(session, opened, file, rehearsal);
}

async function confirmChanges(session: Session, { changes }: Rehearsal): Promise<void> {
  const [removed, restored, target] = [removedBy(changes), restoredBy(changes), describeTarget(session.target)];
  if (removed.length > 0) {
    const what = removed.length === 1 ? 'something' : `${removed.length} things`;
    await confirm(session, `take ${what} away from ${target} (${removed.join('; ')})`);
  }
  if (restored.length > 0) await confirm(session, `bring back what was revoked in ${target} (${restored.join('; ')})`);
}

async function readFileAt(path: string): Promise<ReadResult> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`cannot read the gateway file ${path}`);
  return readGatewayFile(text);
}

const fileOptions = ({ variables, randomness, clock }: Session, file: GatewayFile) => ({
  file,
  readVariable: (name: string) => variables[name],
  randomness,
  nowMs: clock.nowMs(),
});

async function dryRun(session: Session, opened: OpenTarget, file: GatewayFile): Promise<Rehearsal> {
  const wrapper = rehearsalKeyWrapper(() => opened.openKeyWrapper());
  const on = (store: Parameters<typeof rehearseGatewayFile>[0]['store']) =>
    rehearseGatewayFile({
      ...fileOptions(session, file),
      store,
      storesOn: (rehearsed) => sealingStoresOn(rehearsed, opened.stage, wrapper),
    });
  try {
    return await on(opened.store);
  } catch (error) {
    // A dry run makes no tables. On a store of this machine there is nothing then; a stage must be deployed first.
    if (session.target.kind === 'stage' || !isTableMissing(error)) throw error;
    return on(emptyStore);
  }
}

async function write(session: Session, opened: OpenTarget, file: GatewayFile, rehearsal: Rehearsal): Promise<Outcome> {
  const wrapper = lazyKeyWrapper(() => opened.openKeyWrapper());
  const stores = sealingStoresOn(opened.store, opened.stage, wrapper);
  try {
    const report = await applyGatewayFile({ ...fileOptions(session, file), stores });
    return applyOutcome({ ...report, changes: explain(report.changes, rehearsal), isDry: false });
  } catch (error) {
    if (!(error instanceof ApplyInterrupted)) throw error;
    const { report, cause } = error;
    const reason = describeFailure(cause, session.target);
    return {
      ...applyOutcome({ ...report, changes: explain(report.changes, rehearsal), isDry: false }),
      failure: `applied in part, run it again for the rest: ${reason}`,
    };
  }
}

/** Beside each change its members, as they were found a moment before. */
const explain = (changes: readonly ResourceChange[], rehearsal: Rehearsal): RehearsedChange[] =>
  changes.map(({ resource, change }, index) => {
    const found = rehearsal.changes[index];
    return { resource, change, members: found?.resource === resource ? found.members : [] };
  });
