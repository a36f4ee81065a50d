// Strings and numbers within the bounds of a JSON Schema.

export type Schema = Readonly<Record<string, unknown>>;

const formats: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  time: '12:00:00Z',
  'date-time': '2026-01-31T12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '3b241101-e2bb-4255-8caf-4136c566a962',
};

export const isSchema = (value: unknown): value is Schema =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

export const numeric = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

export function stringOf(schema: Schema): string {
  const text = formats[String(schema.format)] ?? 'text';
  return text.padEnd(numeric(schema.minLength, 0), '.').slice(0, numeric(schema.maxLength, Number.POSITIVE_INFINITY));
}

/** The number nearest to 1 that fits, on a grid of `multipleOf` where there is one. */
export function numberOf(schema: Schema, isInteger: boolean): number {
  const step = numeric(schema.multipleOf, isInteger ? 1 : 0.5);
  const above = numeric(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY);
  const below = numeric(schema.exclusiveMaximum, Number.POSITIVE_INFINITY);
  const lowest = Math.max(numeric(schema.minimum, above), above);
  const highest = Math.min(numeric(schema.maximum, below), below);
  const nearest = Math.ceil(Math.min(Math.max(1, lowest), highest) / step) * step;
  if (nearest <= above) return nearest + step;
  return nearest >= below || nearest > highest ? nearest - step : nearest;
}
