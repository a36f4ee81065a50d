// `workspaces list | show | create | update`: workspaces with their credit, limits, models and policy. `credits add`
// adds to the credit of one.
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { addCallCommands, type CallCommands, input, type LineInput, search, shownList } from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readUsd } from '../args/option-values.ts';
import type { CommandOutcome } from '../args/session.ts';
import { type Field, memberLines } from '../output/table.ts';
import { creditFields } from './credits.ts';
import { checkMemberKeys, workspaceOptions } from './workspace-options.ts';

export const addWorkspaces = (program: CommandLine): void =>
  addCallCommands<'workspaces'>(
    program.command('workspaces').description('workspaces, to which keys, credit and functions belong'),
    workspaceCommands,
  );

type Workspace = Documents['ManagedWorkspace'];

/** In the words of the gateway file and of the management interface. */
const documentOf = ({ under_spend_limit_usd: _left, ...workspace }: Workspace) => workspace;

const shown = ({ data }: { readonly data: Workspace }, more: object = {}): CommandOutcome => ({
  json: { ...more, ...documentOf(data) },
  lines: () => memberLines(documentOf(data), textOf),
});

/** `zdr: true, data_residency: eu us`; absent values are omitted. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value !== 'object' || value === null) return String(value ?? '-');
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return members.map(([name, member]) => `${name}: ${textOf(member)}`).join(', ') || '-';
}

const workspaceFields: readonly Field<Workspace>[] = [
  ...creditFields.filter(({ member }) => member !== 'under_spend_limit_usd'),
  { title: 'tpm', align: 'right', leftOut: 2, value: ({ tpm }) => tpm },
  { title: 'concurrent', align: 'right', leftOut: 2, value: ({ concurrency }) => concurrency },
  { title: 'concurrent functions', align: 'right', leftOut: 1, value: (one) => one.function_concurrency },
  { title: 'models', isFlexible: true, value: ({ models }) => models },
];

const workspace: LineInput = input('WORKSPACE', 'names.id', readId);

const workspaceCommands: CallCommands<'workspaces'> = {
  'workspaces list': {
    takes: [search],
    example: '',
    shows: ({ data }) => ({
      json: { workspaces: data.map(documentOf) },
      lines: shownList('workspaces', workspaceFields, 'there are no workspaces')({ data }).lines,
    }),
  },
  'workspaces show': {
    takes: [workspace],
    example: 'team-a',
    shows: (answer) => shown(answer),
  },
  'workspaces create': {
    takes: [
      { ...workspace, place: 'body.id' },
      input('--credit <USD>', 'body.credit_usd', readUsd, 'what it may spend at first; left out: nothing'),
      ...workspaceOptions,
    ],
    example: 'team-b --credit 25.00 --zdr on',
    checks: checkMemberKeys,
    shows: (answer) => shown(answer),
  },
  'workspaces update': {
    takes: [workspace, ...workspaceOptions],
    example: 'team-a --spend-limit 100.00',
    notes: ['What is not named stays. Changes count within seconds. credits add changes the credit.'],
    checks: checkMemberKeys,
    shows: (answer, { change }) => shown(answer, { change }),
  },
};
