// What a revision holds, as lines for people: a text of several lines stands line by line.

export const contentLines = (content: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(content).flatMap(([name, value]) => linesOf(name, value, ''));

function linesOf(name: string, value: unknown, indent: string): string[] {
  if (typeof value === 'string' && value.includes('\n')) {
    return [`${indent}${name}: |`, ...value.split('\n').map((line) => `${indent}  ${line}`)];
  }
  if (typeof value !== 'object' || value === null) return [`${indent}${name}: ${String(value)}`];
  const entries = Array.isArray(value)
    ? value.map((item, at) => [String(at + 1), item] as const)
    : Object.entries(value);
  if (entries.length === 0) return [`${indent}${name}: ${Array.isArray(value) ? '[]' : '{}'}`];
  return [`${indent}${name}:`, ...entries.flatMap(([inner, item]) => linesOf(inner, item, `${indent}  `))];
}
