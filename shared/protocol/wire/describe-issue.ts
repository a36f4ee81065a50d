// What does not fit of a member, in words for the developer who sent it.
import type * as z from 'zod/mini';

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const nameOf = (type: string): string => typeNames[type] ?? type;

/** Without the member's name, and without what was sent. */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'is no member that the gateway knows';
    case 'invalid_type':
      return `must be ${nameOf(issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'invalid_union':
      return describeUnion(issue.errors);
    case 'too_small':
      return describeSize(issue.origin, issue.minimum, issue.inclusive === false ? 'above' : 'at least');
    case 'too_big':
      return describeSize(issue.origin, issue.maximum, issue.inclusive === false ? 'below' : 'at most');
    default:
      return 'is malformed';
  }
}

const countedAs: Readonly<Record<string, string>> = { array: 'items', string: 'characters' };

function describeSize(origin: string, bound: number | bigint, than: string): string {
  const counted = countedAs[origin];
  if (counted === undefined) return `must be ${than} ${bound}`;
  return than === 'at least' && bound === 1 ? 'must not be empty' : `must have ${than} ${bound} ${counted}`;
}

/** Where no branch takes the type that was sent: all types that one takes. */
function describeUnion(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const first = branches.map(([issue]) => issue);
  const types = first.flatMap((issue) => (issue?.code === 'invalid_type' && issue.path.length === 0 ? [issue] : []));
  if (types.length < first.length) return first.find((issue) => issue !== undefined)?.message ?? 'is malformed';
  return `must be ${types.map(({ expected }) => nameOf(expected)).join(' or ')}`;
}
