// Writes an update as a statement of PartiQL, because DynamoDB accepts several statements in one request. Pure. Names
// are quoted, values are parameters in the order of their use. PartiQL's reference does not mention `if_not_exists`,
// but DynamoDB Local 2.9 accepts it.
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type NameTable, tableDefinitions } from '../../foundation/constants/index.ts';
import { type Changes, removedBy, type Update } from '../store/index.ts';
import { attributeOf } from './attribute-values.ts';
import { type ConditionTerms, renderCondition } from './expressions.ts';

export interface Statement {
  readonly Statement: string;
  readonly Parameters: AttributeValue[];
  readonly ReturnValuesOnConditionCheckFailure: 'ALL_OLD';
}

/** Maximum length of a statement, which is DynamoDB's limit. */
const statementMaxLength = 8_192;

/** Returns undefined if no statement can express the update, because it changes nothing, or has too many names. */
export function statementOf(nameOf: NameTable, update: Update): Statement | undefined {
  const terms = new Terms();
  const changes = renderChanges(update.changes, terms);
  if (changes === '') return undefined;
  const key = `${quoted(tableDefinitions[update.table].partitionKey)} = ${terms.value(update.key)}`;
  const condition = update.condition === undefined ? '' : ` AND (${renderCondition(update.condition, terms)})`;
  const returned = update.returnsNoItem === true ? '' : ` RETURNING ALL ${update.returnOld === true ? 'OLD' : 'NEW'} *`;
  const text = `UPDATE ${quoted(nameOf(update.table))} ${changes} WHERE ${key}${condition}${returned}`;
  if (text.length > statementMaxLength) return undefined;
  return { Statement: text, Parameters: terms.parameters, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
}

class Terms implements ConditionTerms {
  readonly parameters: AttributeValue[] = [];

  path(at: string | readonly string[]): string {
    return typeof at === 'string' ? quoted(at) : at.map(quoted).join('.');
  }

  value(value: unknown): string {
    this.parameters.push(attributeOf(value));
    return '?';
  }

  exists(path: string): string {
    return `${path} IS NOT MISSING`;
  }

  absent(path: string): string {
    return `${path} IS MISSING`;
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function renderChanges(changes: Changes, terms: Terms): string {
  const removed = removedBy(changes);
  const assigned: string[] = [];
  const assign = <Value>(
    record: Readonly<Record<string, Value>> | undefined,
    render: (name: string, value: NonNullable<Value> | null) => string,
  ): void => {
    for (const attribute in record) {
      const value = record[attribute];
      if (value === undefined || removed.includes(attribute)) continue;
      const name = quoted(attribute);
      assigned.push(`${name} = ${render(name, value)}`);
    }
  };
  assign(changes.set, (_name, value) => terms.value(value));
  assign(changes.setIfAbsent, (name, value) => `if_not_exists(${name}, ${terms.value(value)})`);
  assign(changes.copyIfAbsent, (name, source) => `if_not_exists(${name}, ${quoted(String(source))})`);
  assign(changes.add, (name, amount) => `if_not_exists(${name}, ${terms.value(0)}) + ${terms.value(amount)}`);
  assign(changes.addElements, (name, elements) => `set_add(${name}, ${terms.value(elements)})`);
  assign(changes.removeElements, (name, elements) => `set_delete(${name}, ${terms.value(elements)})`);
  const set = assigned.length === 0 ? [] : [`SET ${assigned.join(', ')}`];
  return [...set, ...removed.map((attribute) => `REMOVE ${quoted(attribute)}`)].join(' ');
}
