// Defines the schema of the section `guardrails`: checks of the texts of calls, by services outside the gateway or
// within its process.
import * as z from 'zod';
import { parseUsd } from '../../foundation/money/index.ts';
import { patternFault } from '../../foundation/patterns/index.ts';
import { type GuardrailDocument, guardrailDirections, personalTypes } from '../catalogue/index.ts';
import { exactDecimal } from '../value-forms/index.ts';
import { mapping, plainId, positiveInteger, runsDespiteOtherIssues, selectSchema } from './fields.ts';
import { faultOfUrl } from './provider-address.ts';
import { auth, awsRegion } from './provider-schema.ts';
import { isMapping } from './yaml-source.ts';

/** Longest time limit of a check, because a call has 55 seconds, and its provider needs most of them. */
const timeoutMaxMs = 30_000;
/** Largest window, because a stream with a larger window is hardly a stream. */
const windowMaxCharacters = 100_000;

export const guardrailDefaults = {
  on: guardrailDirections,
  on_failure: 'block',
  timeout_ms: 5_000,
  window_characters: 1_000,
  auth: 'none',
  action: 'block',
} as const;

const isDistinct = (written: readonly unknown[]): boolean => new Set(written).size === written.length;

const directions = z
  .array(z.enum(guardrailDirections))
  .min(1, { error: 'must name input, output or both' })
  .refine((written) => isDistinct(written), { error: 'must name each once' });

const rules = {
  id: plainId,
  on: directions.default([...guardrailDirections]),
  on_failure: z.enum(['block', 'pass']).default(guardrailDefaults.on_failure),
  timeout_ms: positiveInteger
    .max(timeoutMaxMs, { error: `must be at most ${timeoutMaxMs}` })
    .default(guardrailDefaults.timeout_ms),
  window_characters: positiveInteger
    .max(windowMaxCharacters, { error: `must be at most ${windowMaxCharacters}` })
    .default(guardrailDefaults.window_characters),
};

const url = z
  .string()
  .max(2048, { error: 'must not be longer than 2048 characters' })
  .superRefine((written, context) => {
    const message = faultOfUrl(written);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const http = mapping('guardrails[]', {
  ...rules,
  kind: z.literal('http'),
  url,
  auth: auth
    .refine((written) => written === 'none' || 'bearer' in written || 'header' in written, {
      error: 'must be none, { bearer: … } or { header: … }',
    })
    .default(guardrailDefaults.auth),
});

/** Name of a guardrail, with the patterns of ApplyGuardrail. */
const guardrailName = z
  .string()
  .regex(/^([a-z0-9]{1,64}|arn:aws:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail\/[a-z0-9]{1,64})$/, {
    error: 'must be the id or the ARN of a guardrail, such as abc123def456',
  });
const version = z
  .string({
    error: ({ input }) => (typeof input === 'number' ? 'must be written in quotes, such as "1"' : undefined),
  })
  .regex(/^([1-9][0-9]{0,7}|DRAFT)$/, { error: 'must be the number of a version in quotes, such as "1", or DRAFT' });

const unitPrice = exactDecimal.check(
  z.refine((written) => parseUsd(written) !== undefined, { error: 'must be USD per 1,000 units such as "0.15"' }),
);
const unitPrices = z.record(z.string(), unitPrice).superRefine((prices, context) => {
  for (const name of Object.keys(prices).filter((name) => !/^[a-z][A-Za-z]{0,63}Units$/.test(name))) {
    const message = 'is no member of the usage of a check, such as contentPolicyUnits';
    context.addIssue({ code: 'custom', path: [name], message });
  }
}, runsDespiteOtherIssues);

const bedrock = mapping('guardrails[]', {
  ...rules,
  kind: z.literal('bedrock'),
  guardrail: guardrailName,
  version,
  region: awsRegion,
  unit_prices: unitPrices.optional(),
});

const action = z.enum(['block', 'mask']).default(guardrailDefaults.action);

const wordsMax = 10_000;
const wordMaxCharacters = 200;
const words = mapping('guardrails[]', {
  ...rules,
  kind: z.literal('words'),
  words: z
    .array(
      z
        .string()
        .max(wordMaxCharacters, { error: `must not be longer than ${wordMaxCharacters} characters` })
        .regex(/[^\s\p{Cf}]/u, { error: 'must hold a character that can be seen' }),
    )
    .min(1, { error: 'must name a word' })
    .max(wordsMax, { error: `must be at most ${wordsMax} words` }),
  action,
});

const patternsMax = 100;
const regexMaxCharacters = 1_000;
const regex = z
  .string()
  .min(1, { error: 'must not be empty' })
  .max(regexMaxCharacters, { error: `must not be longer than ${regexMaxCharacters} characters` })
  .superRefine((written, context) => {
    const fault = patternFault(written);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: `must be a pattern of RE2: ${fault}` });
  });

const patterns = mapping('guardrails[]', {
  ...rules,
  kind: z.literal('patterns'),
  patterns: z
    .array(
      mapping('guardrails[].patterns[]', {
        name: z.string().regex(/^[A-Za-z0-9][\w-]{0,63}$/, {
          error: 'must be 1 to 64 letters, digits, - and _, such as order-number',
        }),
        regex,
      }),
    )
    .min(1, { error: 'must name a pattern' })
    .max(patternsMax, { error: `must be at most ${patternsMax} patterns` })
    .refine((written) => isDistinct(written.map(({ name }) => name)), { error: 'must name each once' }),
  action,
});

const pii = mapping('guardrails[]', {
  ...rules,
  kind: z.literal('pii'),
  types: z
    .array(z.enum(personalTypes))
    .min(1, { error: `must name some of ${personalTypes.join(', ')}` })
    .refine(isDistinct, { error: 'must name each once' }),
  action,
});

const byKind = { http, bedrock, words, patterns, pii };
const kinds = Object.keys(byKind) as (keyof typeof byKind)[];

const anyKind = z.object({
  kind: z.enum(kinds, { error: `must be ${kinds.join(', ').replace(/, (?=\w+$)/, ' or ')}` }),
});

export const guardrail = selectSchema<GuardrailDocument>((input) => {
  if (!isMapping(input)) return z.never({ error: 'must be a mapping with id and kind' });
  const kind = kinds.find((name) => name === input.kind);
  return (kind === undefined ? anyKind : byKind[kind]) as unknown as z.ZodType<GuardrailDocument>;
});
