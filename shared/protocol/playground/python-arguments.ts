// Writes a body as the arguments of a method of an SDK for Python. Fields that the SDK may not know are passed
// separately, because it refuses unknown arguments.

type RequestBody = Readonly<Record<string, unknown>>;

/**
 * Returns a line for each argument. `others` are names of the arguments, from the outside in, for fields that the SDK
 * may not know.
 */
export const pythonLines = (
  body: RequestBody,
  known: readonly string[],
  others: readonly string[] = ['extra_body'],
): string[] => argumentsIn(body, known, others).map(([word, value]) => `    ${word}=${pythonOf(value, '    ')},`);

function argumentsIn(
  body: RequestBody,
  known: readonly string[],
  [argument = '', ...inner]: readonly string[],
): [word: string, value: unknown][] {
  const isKnown = (member: string) => known.includes(member) || member === 'stream';
  const others = Object.entries(body).filter(([member]) => !isKnown(member));
  return [
    ...Object.entries(body).filter(([member]) => isKnown(member)),
    ...(others.length === 0 ? [] : [[argument, nested(inner, Object.fromEntries(others))] as [string, unknown]]),
  ];
}

const nested = (names: readonly string[], value: unknown): unknown =>
  names.reduceRight<unknown>((inside, name) => ({ [name]: inside }), value);

/** Writes a value; JSON texts and numbers are valid Python. */
function pythonOf(value: unknown, indent: string): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => pythonOf(item, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${pythonOf(member, inner)}`);
  const [start, end] = isList ? '[]' : '{}';
  if (items.length === 0) return `${start}${end}`;
  return [start, ...items.map((item) => `${inner}${item},`), `${indent}${end}`].join('\n');
}
