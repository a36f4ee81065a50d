// Defines the schemas of values in the management interface's answers.
import * as z from 'zod/mini';

export const text = z.string();
export const textOrNull = z.nullable(text);
export const flag = z.boolean();
export const count = z.int().check(z.minimum(0));
export const countOrNull = z.nullable(count);
export const numberOrNull = z.nullable(z.number());
export const instant = z.string().check(z.meta({ format: 'date-time' }));
export const instantOrNull = z.nullable(instant);
export const decimal = z.string().check(z.regex(/^\d+(\.\d+)?$/));
export const amount = z.string().check(z.regex(/^-?\d+(\.\d+)?$/));
export const allOrSome: z.ZodMiniType<'all' | readonly string[]> = z.union([z.literal('all'), z.array(text)]);
