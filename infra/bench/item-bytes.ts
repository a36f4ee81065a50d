// What DynamoDB counts as the size of an item, by its published rules: names and texts in UTF-8, two digits of a number a
// byte, three bytes for a map or a list and one for each of their members.
import { marshall } from '@aws-sdk/util-dynamodb';

interface AttributeValue {
  readonly S?: string;
  readonly N?: string;
  readonly B?: Uint8Array;
  readonly L?: readonly AttributeValue[];
  readonly M?: Attributes;
}
type Attributes = Readonly<Record<string, AttributeValue>>;

export const itemBytes = (item: Record<string, unknown>): number =>
  membersBytes(marshall(item, { removeUndefinedValues: true }) as unknown as Attributes, 0);

const membersBytes = (members: Attributes, each: number): number =>
  Object.entries(members).reduce((sum, [name, value]) => sum + each + Buffer.byteLength(name) + valueBytes(value), 0);

function valueBytes({ S: text, N: number, B: bytes, L: list, M: map }: AttributeValue): number {
  if (text !== undefined) return Buffer.byteLength(text);
  if (number !== undefined) return numberBytes(number);
  if (bytes !== undefined) return bytes.length;
  if (list !== undefined) return 3 + list.reduce((sum, member) => sum + 1 + valueBytes(member), 0);
  if (map !== undefined) return 3 + membersBytes(map, 1);
  return 1;
}

function numberBytes(number: string): number {
  const digits = number.replace(/^-?0*\.?0*|\.|e.*$/gi, '').replace(/0+$/, '');
  return Math.ceil(digits.length / 2) + 1 + (number.startsWith('-') ? 1 : 0);
}
