// Renders typed conditions and changes as DynamoDB's expressions. Pure. Every name and value is a placeholder, because
// any name may be a reserved word. DynamoDB refuses unused placeholders, empty clauses and doubled parentheses.
import { type AttributePath, type Changes, type Condition, removedBy } from '../store/index.ts';
import { attributeOf, type ItemAttributes } from './attribute-values.ts';

interface Expressions {
  readonly UpdateExpression: string | undefined;
  readonly ConditionExpression: string | undefined;
  readonly ExpressionAttributeNames: Record<string, string> | undefined;
  readonly ExpressionAttributeValues: ItemAttributes | undefined;
}

/** Omits empty changes. DynamoDB then creates an item of its key alone if there is no item. */
export function renderExpressions(changes: Changes | undefined, condition: Condition | undefined): Expressions {
  const placeholders = new Placeholders();
  const update = changes === undefined ? '' : renderChanges(changes, placeholders);
  const text = condition === undefined ? undefined : renderCondition(condition, placeholders);
  return {
    UpdateExpression: update === '' ? undefined : update,
    ConditionExpression: text,
    ExpressionAttributeNames: placeholders.names,
    ExpressionAttributeValues: placeholders.values,
  };
}

/** The words of a dialect for the parts of a condition. */
export interface ConditionTerms {
  path(at: AttributePath): string;
  value(value: unknown): string;
  exists(path: string): string;
  absent(path: string): string;
}

class Placeholders implements ConditionTerms {
  readonly #names = new Map<string, string>();
  /** A Map, because it distinguishes 1, 1n and '1', and finds objects by identity. */
  readonly #values = new Map<unknown, string>();

  /** Undefined if there are no names. */
  get names(): Record<string, string> | undefined {
    if (this.#names.size === 0) return undefined;
    const names: Record<string, string> = {};
    for (const [name, placeholder] of this.#names) names[placeholder] = name;
    return names;
  }

  /** Undefined if there are no values. */
  get values(): ItemAttributes | undefined {
    if (this.#values.size === 0) return undefined;
    const values: ItemAttributes = {};
    for (const [value, placeholder] of this.#values) values[placeholder] = attributeOf(value);
    return values;
  }

  name(attribute: string): string {
    return placeholderIn(this.#names, attribute, '#n');
  }

  path(at: AttributePath): string {
    return typeof at === 'string' ? this.name(at) : at.map((name) => this.name(name)).join('.');
  }

  value(value: unknown): string {
    return placeholderIn(this.#values, value, ':v');
  }

  exists(path: string): string {
    return `attribute_exists(${path})`;
  }

  absent(path: string): string {
    return `attribute_not_exists(${path})`;
  }
}

function placeholderIn<Key>(known: Map<Key, string>, key: Key, prefix: string): string {
  const placeholder = known.get(key) ?? `${prefix}${known.size}`;
  known.set(key, placeholder);
  return placeholder;
}

function renderChanges(changes: Changes, placeholders: Placeholders): string {
  const removed = removedBy(changes);
  const parts = { SET: [] as string[], REMOVE: [] as string[], ADD: [] as string[], DELETE: [] as string[] };
  const each = <Value>(
    clause: keyof typeof parts,
    record: Readonly<Record<string, Value>> | undefined,
    render: (name: string, value: Value) => string,
  ) => {
    for (const attribute in record) {
      const value = record[attribute];
      if (value === undefined || removed.includes(attribute)) continue;
      parts[clause].push(render(placeholders.name(attribute), value));
    }
  };
  const withValue = (name: string, value: unknown) => `${name} ${placeholders.value(value)}`;
  each('SET', changes.set, (name, value) => `${name} = ${placeholders.value(value)}`);
  each('SET', changes.setIfAbsent, (name, value) => `${name} = if_not_exists(${name}, ${placeholders.value(value)})`);
  each('SET', changes.copyIfAbsent, (name, from) => `${name} = if_not_exists(${name}, ${placeholders.name(from)})`);
  for (const attribute of removed) parts.REMOVE.push(placeholders.name(attribute));
  each('ADD', changes.add, withValue);
  each('ADD', changes.addElements, withValue);
  each('DELETE', changes.removeElements, withValue);
  let text = '';
  for (const [clause, rendered] of Object.entries(parts))
    if (rendered.length > 0) text += `${text === '' ? '' : ' '}${clause} ${rendered.join(', ')}`;
  return text;
}

type Group = Extract<Condition, { readonly kind: 'and' | 'or' }>;

const isGroup = (condition: Condition): condition is Group => condition.kind === 'and' || condition.kind === 'or';

/** Replaces a group of one condition by that condition. */
function simplify(condition: Condition): Condition {
  if (condition.kind === 'not') return { kind: 'not', of: simplify(condition.of) };
  if (!isGroup(condition)) return condition;
  const [first, ...others] = condition.of.map(simplify);
  if (first === undefined) throw new Error('a group of no conditions cannot be expressed');
  return others.length === 0 ? first : { kind: condition.kind, of: [first, ...others] };
}

const comparators = { less: '<', atMost: '<=', atLeast: '>=' } as const;

export const renderCondition = (condition: Condition, terms: ConditionTerms): string =>
  renderSimple(simplify(condition), terms);

function renderSimple(condition: Condition, terms: ConditionTerms): string {
  const inside = (part: Condition): string => {
    const text = renderSimple(part, terms);
    return isGroup(part) ? `(${text})` : text;
  };
  switch (condition.kind) {
    case 'and':
      return condition.of.map(inside).join(' AND ');
    case 'or':
      return condition.of.map(inside).join(' OR ');
    case 'not':
      return `NOT ${inside(condition.of)}`;
    case 'exists':
      return terms.exists(terms.path(condition.at));
    case 'absent':
      return terms.absent(terms.path(condition.at));
    case 'contains':
      return `contains(${terms.path(condition.at)}, ${terms.value(condition.element)})`;
    case 'equals': {
      const path = terms.path(condition.at);
      if (condition.value === null) return `attribute_type(${path}, ${terms.value('NULL')})`;
      return `${path} = ${terms.value(condition.value)}`;
    }
    default:
      return `${terms.path(condition.at)} ${comparators[condition.kind]} ${terms.value(condition.value)}`;
  }
}
