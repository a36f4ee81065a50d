// Computes the sizes of items as DynamoDB counts them. Names and text count their UTF-8 bytes, a number one byte for
// two digits, a map or a list three bytes, and one byte for each of its elements.

/** Attributes by name, each written as in `{"S": "text"}`. */
export type AttributeMap = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const itemBytes = (item: AttributeMap, bytesPerMember = 0): number =>
  Object.entries(item).reduce(
    (sum, [name, value]) => sum + bytesPerMember + Buffer.byteLength(name) + valueBytes(value),
    0,
  );

function valueBytes({ S: text, N: number, B: base64, L: list, M: map }: AttributeMap[string]): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  if (typeof base64 === 'string') return Buffer.byteLength(base64, 'base64');
  if (Array.isArray(list)) return list.reduce((sum, member) => sum + 1 + valueBytes(member), 3);
  if (map !== undefined) return 3 + itemBytes(map as AttributeMap, 1);
  if (typeof number !== 'string') return 1;
  const digits = number.replace(/^-?0*\.?0*|\.|e.*$/gi, '').replace(/0+$/, '');
  return Math.ceil(digits.length / 2) + (number.startsWith('-') ? 2 : 1);
}

/** The engine requires authorization in this format and checks no signature. */
const storeHeaders = (operation: string) => ({
  'content-type': 'application/x-amz-json-1.0',
  'x-amz-target': `DynamoDB_20120810.${operation}`,
  'x-amz-date': '20260101T000000Z',
  authorization:
    'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
});

/** Returns the size of the largest item in one page (1 MB). Calls DynamoDB itself, without a client of this project. */
export async function largestItemBytes(storeUrl: string, tableName: string): Promise<number> {
  const body = JSON.stringify({ TableName: tableName });
  const answer = await fetch(storeUrl, { method: 'POST', headers: storeHeaders('Scan'), body });
  const { Items: items } = (await answer.json()) as { readonly Items: readonly AttributeMap[] };
  return Math.max(0, ...items.map((item) => itemBytes(item)));
}
