// `operators create | list | revoke`: who may open the console and the management interface. Their keys open nothing else.

import { type Role, roles } from '../../../shared/configuration/access/index.ts';
import {
  createOperator,
  readOperator,
  readOperators,
  readWorkspace,
  revokeOperator,
} from '../../../shared/configuration/administration/index.ts';
import type { OperatorRecord } from '../../../shared/configuration/keys/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readChoice, readIds, readKeyName, readPublicId } from '../args/option-values.ts';
import { confirm, type Outcome, type Session } from '../args/session.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';

/** A member has API keys of its own, an operator key has none. */
const operatorRoles = roles.filter((role) => role !== 'member');

export function addOperators(program: CommandLine): void {
  const operators = program.command('operators').description('who may open the console and the management interface');
  operators
    .command('create')
    .description('make an operator key and print it once')
    .requiresOption('--name <N>', 'who has it; no other active operator has this name', readKeyName)
    .takesOption('--role <R>', `viewer, editor or owner; left out: owner`, readChoice(operatorRoles))
    .takesOption('--workspaces <LIST>', 'ids with commas between them; left out: all', readIds)
    .notes(
      'It opens /v1/manage and the console, and calls no model. Every change that it makes is logged with the name.',
      'The key is stored as a hash only: what is not kept now cannot be shown again.',
    )
    .does(create);
  operators.command('list').description('every operator').does(list);
  operators
    .command('revoke')
    .description('refuse an operator key from its next request on')
    .takesArgument('PUBLIC_ID', readPublicId)
    .asks()
    .notes('PUBLIC_ID is what operators list shows: the 16 characters behind sk-gw-.')
    .does(revoke);
}

interface NewOperator {
  readonly name: string;
  readonly role?: Role;
  readonly workspaces?: readonly string[] | 'all';
}

async function create(session: Session, { name, role = 'owner', workspaces = 'all' }: NewOperator): Promise<Outcome> {
  const administration = await openAdministration(session, { writes: true });
  for (const id of workspaces === 'all' ? [] : workspaces) await readWorkspace(administration, id);
  const { publicId, text } = await createOperator(administration, name, { role, workspaces });
  return {
    json: { name, role, workspaces, public_id: publicId, key: text },
    lines: () => [`operator key ${name} (shown once):`, text],
  };
}

async function list(session: Session): Promise<Outcome> {
  const operators = await readOperators(await openAdministration(session));
  return {
    json: { operators: operators.map((operator) => fieldJson(operatorFields, operator)) },
    lines: (style) =>
      operators.length === 0 ? ['there are no operators'] : fieldTable(operatorFields, operators, style),
  };
}

async function revoke(session: Session, publicId: string): Promise<Outcome> {
  const administration = await openAdministration(session, { writes: true });
  const record = await readOperator(administration, publicId);
  const { name } = record;
  const isRevoked = record.status === 'revoked';
  if (!isRevoked) {
    await confirm(session, `revoke the operator key ${name} (${publicId})`);
    await revokeOperator(administration, record);
  }
  return {
    json: { name, public_id: publicId, status: 'revoked', change: isRevoked ? 'unchanged' : 'changed' },
    lines: () => [`operator key ${name} (${publicId}) ${isRevoked ? 'was revoked before' : 'is revoked'}`],
  };
}

/** No more of a key than its public id. */
const operatorFields: readonly Field<OperatorRecord>[] = [
  { member: 'name', title: 'name', isFlexible: true, value: ({ name }) => name },
  { member: 'public_id', title: 'public id', value: ({ publicId }) => publicId },
  { member: 'status', title: 'status', value: ({ status }) => status },
  { member: 'role', title: 'role', value: ({ role }) => role },
  {
    member: 'workspaces',
    title: 'workspaces',
    isFlexible: true,
    value: ({ workspaces }) => (workspaces === 'all' ? workspaces : workspaces.join(', ')),
  },
  { member: 'created_at', title: 'created', value: ({ createdAtMs }) => instantOf(createdAtMs) },
];
