// Creates and revokes the keys of people who may open the console and the management interface (`operators create |
// list | revoke`). These keys open nothing else.
import { operatorRoles } from '../../../shared/configuration/access/index.ts';
import { readOperator } from '../../../shared/configuration/administration/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { addCallCommands, type CallCommands, input, shownList } from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readChoice, readIds, readKeyName, readPublicId } from '../args/option-values.ts';
import type { Field } from '../output/table.ts';

export const addOperators = (program: CommandLine): void =>
  addCallCommands<'operators'>(
    program.command('operators').description('who may open the console and the management interface'),
    operatorCommands,
  );

const operatorFields: readonly Field<Documents['ManagedOperator']>[] = [
  { member: 'name', title: 'name', isFlexible: true, value: ({ name }) => name },
  { member: 'public_id', title: 'public id', value: (operator) => operator.public_id },
  { member: 'status', title: 'status', value: ({ status }) => status },
  { member: 'role', title: 'role', value: ({ role }) => role },
  {
    member: 'workspaces',
    title: 'workspaces',
    isFlexible: true,
    value: ({ workspaces }) => [workspaces].flat().join(', '),
  },
  { member: 'created_at', title: 'created', value: (operator) => operator.created_at },
];

const operatorCommands: CallCommands<'operators'> = {
  'operators create': {
    summary: 'make an operator key and print it once',
    takes: [
      input('--name <N>', 'body.name', readKeyName, 'who has it; no other active operator has this name', {
        isRequired: true,
      }),
      input('--role <R>', 'body.role', readChoice(operatorRoles), 'viewer, editor or owner; left out: owner'),
      input('--workspaces <LIST>', 'body.workspaces', readIds, 'ids with commas between them; left out: all'),
    ],
    example: '--name ada --role editor --workspaces team-a',
    notes: [
      'It opens /v1/manage and the console, and calls no model. Each change made with it is logged with the name.',
      'The key is stored as a hash only: copy it now, it cannot be shown again.',
    ],
    shows: ({ data: { name, role, workspaces, public_id, key } }) => ({
      json: { name, role, workspaces, public_id, key },
      lines: () => [`operator key ${name} (shown once):`, key],
    }),
  },
  'operators list': {
    summary: 'every operator',
    example: '',
    shows: shownList('operators', operatorFields, 'there are no operators'),
  },
  'operators revoke': {
    takes: [input('PUBLIC_ID', 'names.public_id', readPublicId)],
    example: 'ek0f2eiHeJiNSCrK --yes',
    notes: ['PUBLIC_ID is what operators list shows: the 16 characters behind sk-gw-.'],
    async asks({ names: { public_id: publicId = '' } }, deps) {
      const { name, status } = await readOperator(deps, publicId);
      return status === 'revoked' ? undefined : `revoke the operator key ${name} (${publicId})`;
    },
    shows: ({ data: { name, public_id, status } }, { change }) => ({
      json: { name, public_id, status, change },
      lines: () => [
        `operator key ${name} (${public_id}) ${change === 'unchanged' ? 'was revoked before' : 'is revoked'}`,
      ],
    }),
  },
};
