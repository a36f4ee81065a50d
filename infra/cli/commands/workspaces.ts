// Creates and changes workspaces with their credit, limits, models and policy (`workspaces list | show | create |
// update`). `credits add` adds to the credit of a workspace.
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { workspaceSettings } from '../../../shared/configuration/settings/index.ts';
import {
  addCallCommands,
  type CallCommands,
  input,
  type LineInput,
  type LineRequest,
  search,
  shownList,
} from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readUsd, UsageError } from '../args/option-values.ts';
import type { CommandOutcome } from '../args/session.ts';
import { type Field, memberLines } from '../output/table.ts';
import { creditFields } from './credits.ts';
import { settingFields, settingOptions } from './setting-options.ts';

export const addWorkspaces = (program: CommandLine): void =>
  addCallCommands<'workspaces'>(
    program.command('workspaces').description('workspaces, to which keys, credit and functions belong'),
    workspaceCommands,
  );

type Workspace = Documents['ManagedWorkspace'];

/** Returns the document with the field names of the gateway file and of the management interface. */
const documentOf = ({ under_spend_limit_usd: _limit, ...workspace }: Workspace) => workspace;

const shown = ({ data }: { readonly data: Workspace }, more: object = {}): CommandOutcome => ({
  json: { ...more, ...documentOf(data) },
  lines: () => memberLines(documentOf(data), textOf),
});

/** Returns a text such as `zdr: true, data_residency: eu us`; absent values are omitted. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value !== 'object' || value === null) return String(value ?? '-');
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return members.map(([name, member]) => `${name}: ${textOf(member)}`).join(', ') || '-';
}

const workspaceFields: readonly Field<Workspace>[] = [
  ...creditFields.filter(({ member }) => member !== 'under_spend_limit_usd'),
  ...settingFields<Workspace>(workspaceSettings).filter(({ title }) => title !== undefined),
];

const workspace: LineInput = input('WORKSPACE', 'names.id', readId);

/**
 * Checks that `--member-keys none`, under which members create no keys at all, is given without another limit. Throws
 * UsageError.
 */
function checkMemberKeys({ body }: LineRequest): void {
  const { max, ...limits } = (body.member_keys ?? {}) as Record<string, unknown>;
  if (max !== null) return;
  if (Object.keys(limits).length > 0) {
    throw new UsageError('--member-keys none leaves no key that the others could limit');
  }
  body.member_keys = null;
}

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
      ...settingOptions(workspaceSettings, 'none'),
    ],
    example: 'team-b --credit 25.00 --zdr on',
    checks: checkMemberKeys,
    shows: (answer) => shown(answer),
  },
  'workspaces update': {
    takes: [workspace, ...settingOptions(workspaceSettings, 'none')],
    example: 'team-a --spend-limit 100.00',
    notes: ['What is not named stays. Changes count within seconds. credits add changes the credit.'],
    checks: checkMemberKeys,
    shows: (answer, { change }) => shown(answer, { change }),
  },
};
