// `apply -f gateway.yaml`: brings the store to what the file says, or with `--dry-run` says what that would change. What
// takes something away from somebody is asked about.
import { readFile } from 'node:fs/promises';
import {
  ApplyInterrupted,
  destructiveChanges,
  type GatewayFile,
  type GatewayFilePlan,
  planGatewayFile,
  type ReadResult,
  readGatewayFile,
  restoredKeys,
} from '../../../shared/configuration/gateway-file/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import type { Command, Outcome, Session } from '../command.ts';
import { confirm } from '../confirm.ts';
import { describeFailure, isTableMissing } from '../describe-failure.ts';
import { emptyStore } from '../dry-run-store.ts';
import { lazyKeyWrapper } from '../key-wrappers.ts';
import type { OpenTarget } from '../open-target.ts';
import { applyOutcome, problemsOutcome } from '../output/apply-outcome.ts';
import { sealingStoresOn } from '../stores.ts';
import { describeTarget } from '../target.ts';

export const applyCommand: Command<OpenTarget> = {
  name: 'apply',
  summary: 'make the store what a gateway file says; --dry-run only says what would change',
  options: {
    file: { value: 'FILE', summary: 'the gateway file (YAML)', isRequired: true, short: 'f' },
    'dry-run': { summary: 'write nothing: print every member that would change, old → new' },
  },
  asks: true,
  notes: [
    'Asks before providers, models, connections or keys are taken away, and before a revoked key comes back.',
    'A second run changes nothing.',
    'Keys of BYOK connections, `key: {env: NAME}`, are read from the variables of this shell.',
    'Keys that the file does not give are made and printed once.',
  ],
  prepare: (input) => {
    const path = input.required('file');
    const isDry = input.isSet('dry-run');
    return (session) => apply(session, path, isDry);
  },
};

async function apply(session: Session<OpenTarget>, path: string, isDry: boolean): Promise<Outcome> {
  const read = await readFileAt(path);
  if (!read.ok) return problemsOutcome(path, read.problems);
  const { file } = read;
  const opened = await session.open({ creates: !isDry });
  if (!isDry) await opened.prepareTables();
  session.terminal.showProgress('comparing …');
  const plan = await planFile(session, opened, file);
  if (isDry) return applyOutcome({ ...plan, isDry, createdKeys: [] });
  await confirmChanges(session, plan);
  session.terminal.showProgress('applying …');
  return carryOut(session, plan);
}

async function confirmChanges(session: Session<OpenTarget>, { changes }: GatewayFilePlan): Promise<void> {
  const [taken, restored] = [destructiveChanges(changes), restoredKeys(changes)];
  const target = describeTarget(session.target);
  if (taken.length > 0) {
    const what = taken.length === 1 ? 'something' : `${taken.length} things`;
    await confirm(session, `take ${what} away from ${target} (${taken.join('; ')})`);
  }
  if (restored.length > 0) await confirm(session, `bring back what was revoked in ${target} (${restored.join('; ')})`);
}

async function readFileAt(path: string): Promise<ReadResult> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`cannot read the gateway file ${path}`);
  return readGatewayFile(text);
}

async function planFile(session: Session<OpenTarget>, opened: OpenTarget, file: GatewayFile): Promise<GatewayFilePlan> {
  const { variables, randomness, clock } = session;
  const wrapper = lazyKeyWrapper(() => opened.openKeyWrapper());
  const planOn = (store: Store) =>
    planGatewayFile({
      file,
      readVariable: (name) => variables[name],
      randomness,
      nowMs: clock.nowMs(),
      stores: sealingStoresOn(store, opened.stage, wrapper),
    });
  try {
    return await planOn(opened.store);
  } catch (error) {
    // A dry run makes no tables. On a store of this machine there is nothing then; a stage must be deployed first.
    if (session.target.kind === 'stage' || !isTableMissing(error)) throw error;
    return planOn(emptyStore);
  }
}

async function carryOut(session: Session<OpenTarget>, plan: GatewayFilePlan): Promise<Outcome> {
  try {
    return applyOutcome({ ...(await plan.apply()), isDry: false });
  } catch (error) {
    if (!(error instanceof ApplyInterrupted)) throw error;
    const { report, cause } = error;
    const reason = describeFailure(cause, session.target);
    return {
      ...applyOutcome({ ...report, isDry: false }),
      failure: `applied in part, run it again for the rest: ${reason}`,
    };
  }
}
