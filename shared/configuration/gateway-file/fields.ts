// Defines small schemas that many sections of the file share. Each message names the valid form.
import * as z from 'zod';
import { idPattern } from '../../foundation/constants/index.ts';
import {
  authAdvice,
  checkWith,
  credentialAdvice,
  type Issue,
  looksLikeCredential,
  nearestName,
  notThis,
  type Path,
  suggest,
} from './problems.ts';
import { isMapping } from './yaml-source.ts';

/** The mappings that have a field, by its name. */
const placesByMember = new Map<string, string[]>();
const placed = new WeakSet<z.core.$ZodType>();

/** Returns the schema of a mapping without unknown fields. `place` is for example `models[].providers[]`. */
export const mapping = <Shape extends z.ZodRawShape>(place: string, shape: Shape) => {
  const schema = z.strictObject(shape);
  placeMembers(place, schema);
  return schema;
};

/** Sets the places of inner mappings, which other folders define. */
function placeMembers(place: string, schema: z.core.$ZodType): void {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  if (def.type === 'optional' || def.type === 'nullable') placeMembers(place, def.innerType);
  if (def.type !== 'object' || placed.has(schema)) return;
  placed.add(schema);
  for (const [name, member] of Object.entries(def.shape)) {
    placesByMember.set(name, [...(placesByMember.get(name) ?? []), place]);
    placeMembers(`${place}.${name}`, member);
  }
}

/** Returns one issue per unknown field, and one for each other issue of zod. */
export const toIssues = (issues: readonly z.core.$ZodIssue[]): Issue[] =>
  issues.flatMap(({ path, message, ...issue }) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...path, key], message: unknownMember(key, path, message.split(' ')) }))
      : [{ path, message }],
  );

/** Matches fields in which other programs expect a credential. */
const credentialMember = /^(x-)?(api[-_]?)?(key|token|secret|password|credentials?|authorization|bearer)s?$/i;

function unknownMember(name: string, path: Path, known: readonly string[]): string {
  if (path[0] === 'providers' && credentialMember.test(name)) {
    return `is not known here; ${authAdvice}`;
  }
  const places = [...new Set(placesByMember.get(name))].filter((place) => place !== '');
  const isElsewhere = places.length > 0 && nearestName(name, known) === undefined;
  return `is not known here; ${isElsewhere ? `it is a member of ${places.join(' and ')}` : suggest(name, known)}`;
}

/**
 * Options of a rule over several parts of a value. The rule also runs if a part has an issue, so that no issue hides
 * another.
 */
export const runsDespiteOtherIssues = {
  when: ({ value }: { readonly value: unknown }) => isMapping(value) || Array.isArray(value),
};

/** Returns the names of the fields at fault, for a rule that reads other fields. */
export const faultyFields = ({ issues }: z.core.ParsePayload): ReadonlySet<unknown> =>
  new Set(issues.map(({ path }) => path?.[0]));

/** Returns a schema that is chosen by the input, so that its problems are the problems of the intended form. */
export const selectSchema = <Output>(choose: (input: unknown) => z.core.$ZodType<Output>) =>
  z.unknown().transform((input, context): Output => {
    const result = checkWith(choose(input), input);
    if (result.ok) return result.value;
    for (const issue of result.issues) context.issues.push({ ...issue, input } as z.core.$ZodRawIssue);
    return z.NEVER;
  });

const matching = (pattern: RegExp, description: string) =>
  z.string().regex(pattern, { error: ({ input }) => `must be ${description}${notThis(input)}` });

export const providerId = matching(
  /^[a-z0-9][a-z0-9._-]{0,63}$/,
  '1 to 64 lower-case letters, digits, dots, hyphens or underscores, and begin with a letter or digit',
);
/** Id of a workspace, a function, a revision or a step. */
export const plainId = matching(idPattern, '1 to 64 letters, digits, hyphens or underscores');
/** Slug or version of a preset: a call may write them as `slug@version`. YAML reads an unquoted 1 as a number. */
export const presetName = z
  .string({
    error: (issue) => (typeof issue.input === 'number' ? 'must be written in quotes, such as "1"' : undefined),
  })
  .regex(/^[A-Za-z0-9._-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, dots, hyphens or underscores' });
export const region = matching(/^[a-z][a-z0-9-]{1,31}$/, 'a region or country code in lower case, such as eu');
/** Returns a schema for places where people write the secret itself, so its message repeats no part of the value. */
const unquoted = (pattern: RegExp, description: string) => {
  const error = `must be ${description}, not the credential itself: write ${credentialAdvice}`;
  return z
    .string()
    .regex(pattern, { error })
    .refine((name) => !looksLikeCredential(name), { error });
};
const environmentName = unquoted(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'the name of an environment variable');
const secretName = unquoted(/^[A-Za-z0-9/_+=.@-]{1,256}$/, 'the name of a secret');

/** Returns the schema of a reference to a secret; the secret itself is never in the file. */
export const referenceSchema = <Shape extends z.ZodRawShape>(more: Shape) => {
  const secretSchema = mapping('', { ...more, secret: secretName });
  const environmentSchema = mapping('', { ...more, env: environmentName });
  return selectSchema<z.infer<typeof secretSchema> | z.infer<typeof environmentSchema>>((input) => {
    if (typeof input !== 'object' || input === null) return noReference;
    return 'secret' in input ? secretSchema : environmentSchema;
  });
};
const noReference = z.never({ error: `must not be the credential itself: write ${credentialAdvice}` });
export const secretReference = referenceSchema({});

const wholeNumber = (least: number, most: number, message: string) =>
  z
    .int({ error: (issue) => (typeof issue.input === 'number' ? 'must be a whole number' : undefined) })
    .min(least, { error: message })
    .max(most, { error: `must be at most ${most}` });

export const positiveInteger = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'must be at least 1');
export const epochSeconds = wholeNumber(0, 253_402_300_799, 'must be seconds since 1970');
/** A time limit. Timers overflow beyond 2^31 ms and would fire at once; an hour is far above any budget. */
export const timeoutMs = wholeNumber(1, 3_600_000, 'must be at least 1');
export const waitMs = wholeNumber(0, 3_600_000, 'must not be negative');

/** Returns the error of a union whose forms one field distinguishes. */
export const mustBe = (forms: string) => (issue: z.core.$ZodRawIssue) =>
  issue.code === 'invalid_union' ? `must be ${forms}${notThis(wordIn(issue))}` : undefined;

/** Returns the field of a mapping that chooses its form. */
const wordIn = ({ input, discriminator }: { readonly input?: unknown; readonly discriminator?: unknown }): unknown =>
  isMapping(input) && typeof discriminator === 'string' ? input[discriminator] : input;

/** Returns a schema of fields that are sent to the provider unchanged, except those with a place of their own. */
export const freeMembers = (reserved: readonly string[]) =>
  z.record(z.string(), z.unknown()).superRefine((members, context) => {
    for (const name of reserved.filter((name) => Object.hasOwn(members, name))) {
      context.addIssue({ code: 'custom', path: [name], message: 'cannot be set here' });
    }
  });
