// Shows and changes the credit of workspaces, to the last digit (`credits add | show | history`).
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { addCallCommands, type CallCommands, input, shownList } from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readUsdChange } from '../args/option-values.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';

export const addCredits = (program: CommandLine): void =>
  addCallCommands<'credits'>(program.command('credits').description('the credit of workspaces'), creditCommands);

type WorkspaceCredit = Documents['ManagedWorkspace'];

const amount = (member: keyof WorkspaceCredit & `${string}_usd`, title: string): Field<WorkspaceCredit> => ({
  member,
  title,
  align: 'decimal',
  value: (workspace) => workspace[member],
});

export const creditFields: readonly Field<WorkspaceCredit>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ id }) => id },
  amount('granted_usd', 'granted USD'),
  amount('spent_usd', 'spent USD'),
  amount('held_usd', 'reserved USD'),
  amount('available_usd', 'available USD'),
  amount('spend_limit_usd', 'spend limit'),
  amount('under_spend_limit_usd', 'under limit'),
];

const additionFields: readonly Field<Documents['ManagedAddition']>[] = [
  { member: 'time', title: 'time', value: ({ time }) => time },
  { member: 'amount_usd', title: 'USD', align: 'decimal', value: ({ amount_usd }) => amount_usd },
  { member: 'id', title: 'id', isFlexible: true, value: ({ id }) => id, shown: ({ id }) => id ?? 'first grant' },
];

const creditCommands: CallCommands<'credits'> = {
  'credits add': {
    takes: [
      input('WORKSPACE', 'names.id', readId),
      input('USD', 'body.amount_usd', readUsdChange),
      input('--id <ID>', 'body.id', readId, 'names the addition, as an invoice number does; left out: a new one', {
        absent: ({ randomness }) => randomness.uuid(),
      }),
    ],
    example: 'team-a 25.00 --id invoice-7',
    notes: [
      'An id is remembered for 30 days: adding again under it adds nothing.',
      'A negative amount removes credit, but never what was spent or what running calls have reserved.',
    ],
    shows: ({ data: { workspace, ...addition } }) => ({
      json: { ...addition, ...fieldJson(creditFields, workspace) },
      lines: (style) => [
        addition.change === 'added'
          ? `added ${addition.amount_usd} USD (id ${addition.id})`
          : `the addition ${addition.id} was made before`,
        ...fieldTable(creditFields, [workspace], style),
      ],
    }),
  },
  'credits show': {
    summary: 'the credit of a workspace, or of all: granted, spent, held, available',
    takes: [input('[WORKSPACE]', 'names.id', readId)],
    example: 'team-a',
    route: ({ names: { id } }) => (id === undefined ? undefined : 'GET /workspaces/{id}'),
    shows: ({ data }) => shownList('credits', creditFields, 'there are no workspaces')({ data: [data].flat() }),
  },
  'credits history': {
    takes: [input('WORKSPACE', 'names.id', readId)],
    example: 'team-a',
    notes: ['After 30 days an addition is counted as part of the first grant.'],
    shows: (answer, { request }) => {
      const { json, lines } = shownList('additions', additionFields, 'nothing was granted')(answer);
      return { json: { workspace: request.names.id, ...(json as object) }, lines };
    },
  },
};
