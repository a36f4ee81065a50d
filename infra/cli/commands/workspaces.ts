// `workspaces list | show | create | update`: workspaces with their credit, limits, models and policy. What is added to the credit of
// one is `credits add`.
import {
  changeWorkspace,
  createWorkspace,
  readCredit,
  readCredits,
  readWorkspace,
  type WorkspaceCredit,
} from '../../../shared/configuration/administration/index.ts';
import { settingsOf } from '../../../shared/configuration/workspaces/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readUsd, UsageError } from '../args/option-values.ts';
import type { Outcome, Session } from '../args/session.ts';
import { type Field, fieldJson, fieldTable, memberLines } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';
import { creditFields } from './credits.ts';
import { settingOptions, toWorkspaceChanges, type WorkspaceOptions } from './workspace-options.ts';

export function addWorkspaces(program: CommandLine): void {
  const workspaces = program
    .command('workspaces')
    .description('workspaces, to which keys, credit and functions belong');
  workspaces.command('list').description('every workspace with its credit and limits').does(list);
  workspaces
    .command('show')
    .description('all settings of a workspace, and its credit')
    .takesArgument('WORKSPACE', readId)
    .does(show);
  settingOptions(
    workspaces
      .command('create')
      .description('make a workspace')
      .takesArgument('WORKSPACE', readId)
      .takesOption('--credit <USD>', 'what it may spend at first; left out: nothing', readUsd),
  ).does(create);
  settingOptions(
    workspaces
      .command('update')
      .description('change limits, models or policy of a workspace')
      .takesArgument('WORKSPACE', readId),
  )
    .notes('What is not named stays. Changes count within seconds. credits add changes the credit.')
    .does(update);
}

async function list(session: Session): Promise<Outcome> {
  const administration = await openAdministration(session);
  session.terminal.showProgress('reading workspaces …');
  const all = await readCredits(administration);
  return {
    json: { workspaces: all.map(documentOf) },
    lines: (style) => (all.length === 0 ? ['there are no workspaces'] : fieldTable(workspaceFields, all, style)),
  };
}

async function show(session: Session, id: string): Promise<Outcome> {
  const administration = await openAdministration(session);
  return shown(await readCredit(administration, await readWorkspace(administration, id)));
}

async function create(
  session: Session,
  id: string,
  { credit = 0n, ...options }: WorkspaceOptions & { readonly credit?: PicoUsd },
): Promise<Outcome> {
  const administration = await openAdministration(session, { writes: true });
  const wanted = { ...toWorkspaceChanges(id, options), credit_usd: formatUsd(credit) };
  return shown(await readCredit(administration, await createWorkspace(administration, wanted)));
}

async function update(session: Session, id: string, options: WorkspaceOptions): Promise<Outcome> {
  const changes = toWorkspaceChanges(id, options);
  if (Object.keys(changes).length === 1) throw new UsageError('say what to change: see workspaces update --help');
  const administration = await openAdministration(session, { writes: true });
  const { isChanged, workspace } = await changeWorkspace(administration, changes);
  const outcome = shown(await readCredit(administration, workspace));
  return { ...outcome, json: { change: isChanged ? 'changed' : 'unchanged', ...(outcome.json as object) } };
}

const shown = (one: WorkspaceCredit): Outcome => ({
  json: documentOf(one),
  lines: () => memberLines(documentOf(one), textOf),
});

/** `zdr: true, data_residency: eu us`; what has no value is left out. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value !== 'object' || value === null) return String(value ?? '-');
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return members.map(([name, member]) => `${name}: ${textOf(member)}`).join(', ') || '-';
}

/** In the words of the gateway file and of the management interface. */
const documentOf = (one: WorkspaceCredit) => {
  const { workspace: id, under_spend_limit_usd: _left, ...credit } = fieldJson(creditFields, one);
  return { id, ...credit, ...settingsOf(one.workspace) };
};

const workspaceFields: readonly Field<WorkspaceCredit>[] = [
  ...creditFields.filter(({ member }) => member !== 'under_spend_limit_usd'),
  { title: 'at once', align: 'right', leftOut: 2, value: ({ workspace }) => workspace.concurrency },
  { title: 'functions at once', align: 'right', leftOut: 1, value: ({ workspace }) => workspace.function_concurrency },
  { title: 'models', isFlexible: true, value: ({ workspace }) => workspace.models },
];
