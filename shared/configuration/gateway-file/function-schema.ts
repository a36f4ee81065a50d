// Stored functions (contract 8): the shape of a function, its revisions, and the steps of a workflow.
import * as z from 'zod';
import { type FunctionDocument, stepsMax } from '../stored-functions/index.ts';
import { chosenBy, freeMembers, mapping, plainId, text, toldApartBy } from './fields.ts';

/** A revision and all it holds is read from one item later on; 256 KiB is the size of the largest call. */
const templateLengthMax = 256 * 1024;
const messagesMax = 64;
const fallbackModelsMax = 8;
const schemaMaxBytes = 64 * 1024;

/** Have a place of their own in a revision, or no meaning in a function (contract 8). */
const reservedOptions = [
  'model',
  'messages',
  'response_format',
  'stream',
  'stream_options',
  'cache',
  'preset',
  'usage',
] as const;

const jsonSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => Buffer.byteLength(JSON.stringify(schema)) <= schemaMaxBytes, {
    error: `must not be larger than ${schemaMaxBytes} bytes`,
  });

const template = text(templateLengthMax);
const contentPart = z.looseObject({ type: text(32) });

const message = mapping({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: chosenBy<string | z.infer<typeof contentPart>[]>((input) =>
    Array.isArray(input) ? z.array(contentPart).min(1) : template,
  ),
  name: text(64).optional(),
});

const responseFormat = z.discriminatedUnion(
  'type',
  [
    mapping({ type: z.literal('text') }),
    mapping({ type: z.literal('json_object') }),
    mapping({
      type: z.literal('json_schema'),
      json_schema: mapping({
        name: plainId,
        description: text(1024).optional(),
        strict: z.boolean().optional(),
        schema: jsonSchema,
      }),
    }),
  ],
  { error: toldApartBy('text, json_object or json_schema') },
);

const fallbackModels = z.array(text(128)).max(fallbackModelsMax);
const messages = z.array(message).min(1, { error: 'must not be empty' }).max(messagesMax);
const options = freeMembers(reservedOptions).default({});

const objectInput = mapping({ type: z.literal('object'), schema: jsonSchema.default({}) });
const promptInput = z
  .discriminatedUnion('type', [mapping({ type: z.literal('text') }), objectInput], {
    error: toldApartBy('text or object'),
  })
  .default({ type: 'text' });

/** Qualification: an input and what a good answer to it looks like. */
const testCase = mapping({
  input: z.union([z.string(), z.record(z.string(), z.unknown())], { error: 'must be text or a mapping' }),
  expect: mapping({
    schema: jsonSchema.optional(),
    equals: z.unknown().optional(),
    contains: text(4096).optional(),
  }).refine((expected) => Object.values(expected).some((value) => value !== undefined), {
    error: 'must hold schema, equals or contains',
  }),
});

const instant = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], { error: 'must be a date such as 2027-01-01T00:00:00Z' })
  .transform((written) => new Date(written).toISOString());

const revisionLife = {
  id: plainId,
  state: z.enum(['draft', 'activated']).default('draft'),
  expires_at: instant.nullable().default(null),
  /** Counted from the activation: `30d`, `12h`. */
  valid_for: z
    .string()
    .regex(/^[1-9]\d{0,4}[mhdw]$/, { error: 'must be a number of m, h, d or w, such as 30d' })
    .nullable()
    .default(null),
  cases: z.array(testCase).default([]),
};

const promptRevision = mapping({
  ...revisionLife,
  model: text(128),
  fallback_models: fallbackModels.default([]),
  messages,
  options,
  response_format: responseFormat.optional(),
  input: promptInput,
});

const step = mapping({
  id: plainId,
  model: text(128),
  fallback_models: fallbackModels.default([]),
  messages,
  options,
  response_format: responseFormat.optional(),
});

const workflowRevision = mapping({
  ...revisionLife,
  input: objectInput,
  steps: z.array(step).min(1, { error: 'must not be empty' }).max(stepsMax),
  output: chosenBy<string | { step: string }>((input) => (typeof input === 'string' ? template : stepOutput)),
});
const stepOutput = mapping({ step: plainId });

const shared = {
  id: plainId,
  status: z.enum(['enabled', 'disabled']).default('enabled'),
  /** The revision an unpinned call runs; null: none. */
  active: plainId.nullable().default(null),
};

/** The compiler's word that what is read is what is stored. */
export const functionSchema = z.discriminatedUnion(
  'kind',
  [
    mapping({ ...shared, kind: z.literal('prompt'), revisions: z.array(promptRevision) }),
    mapping({ ...shared, kind: z.literal('workflow'), revisions: z.array(workflowRevision) }),
  ],
  { error: toldApartBy('prompt or workflow') },
) satisfies z.ZodType<FunctionDocument>;
