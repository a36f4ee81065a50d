// Renders typed conditions and changes as DynamoDB's expressions. Pure. Every name and value is a placeholder, because
// any name may be a reserved word. DynamoDB refuses unused placeholders, empty clauses and doubled parentheses.
import { type AttributePath, type Changes, type Condition, removedBy } from '../store/index.ts';

interface Expressions {
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, unknown>;
}

/** Omits empty changes: DynamoDB then creates an item of its key alone where there is none. */
export function renderExpressions(changes: Changes | undefined, condition: Condition | undefined): Expressions {
  const placeholders = new Placeholders();
  const update = changes === undefined ? '' : renderChanges(changes, placeholders);
  const text = condition === undefined ? undefined : renderCondition(condition, placeholders);
  const { names, values } = placeholders;
  return {
    ...(update === '' ? {} : { UpdateExpression: update }),
    ...(text === undefined ? {} : { ConditionExpression: text }),
    ...(Object.keys(names).length === 0 ? {} : { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }),
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

  get names(): Record<string, string> {
    return swapped(this.#names);
  }

  get values(): Record<string, unknown> {
    return swapped(this.#values);
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

const swapped = <Key>(known: Map<Key, string>): Record<string, Key> =>
  Object.fromEntries([...known].map(([key, placeholder]) => [placeholder, key]));

function renderChanges(changes: Changes, placeholders: Placeholders): string {
  const { set, setIfAbsent, copyIfAbsent, add, addElements, removeElements } = changes;
  const removed = removedBy(changes);
  const each = <Value>(
    record: Readonly<Record<string, Value>> | undefined,
    render: (name: string, value: Value) => string,
  ) =>
    Object.entries(record ?? {}).flatMap(([attribute, value]) =>
      value === undefined || removed.includes(attribute) ? [] : [render(placeholders.name(attribute), value)],
    );
  const withValue = (name: string, value: unknown) => `${name} ${placeholders.value(value)}`;
  const clauses = {
    SET: [
      ...each(set, (name, value) => `${name} = ${placeholders.value(value)}`),
      ...each(setIfAbsent, (name, value) => `${name} = if_not_exists(${name}, ${placeholders.value(value)})`),
      ...each(copyIfAbsent, (name, source) => `${name} = if_not_exists(${name}, ${placeholders.name(source)})`),
    ],
    REMOVE: removed.map((attribute) => placeholders.name(attribute)),
    ADD: [...each(add, withValue), ...each(addElements, withValue)],
    DELETE: each(removeElements, withValue),
  };
  return Object.entries(clauses)
    .flatMap(([clause, parts]) => (parts.length === 0 ? [] : `${clause} ${parts.join(', ')}`))
    .join(' ');
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

const comparators = { less: '<', atMost: '<=', more: '>', atLeast: '>=' } as const;

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
