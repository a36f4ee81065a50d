// Defines the schema of stored functions: the structure of a function, its revisions, and the steps of a workflow. A
// revision is one value with its defaults; absent fields of the function around it keep their stored values.
import * as z from 'zod';
import { type FunctionDocument, stepsMax } from '../stored-functions/index.ts';
import { instant, text } from '../value-forms/index.ts';
import { freeMembers, mapping, mustBe, plainId, selectSchema } from './fields.ts';

/** Maximum length of a template. A revision is read from one item, and 256 KiB is the size of the largest call. */
const templateLengthMax = 256 * 1024;
const messagesMax = 64;
const fallbackModelsMax = 8;
const schemaMaxBytes = 64 * 1024;

/** Options that have a place of their own in a revision, or no meaning in a function. */
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

const message = mapping('messages[]', {
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: selectSchema<string | z.infer<typeof contentPart>[]>((input) =>
    Array.isArray(input) ? z.array(contentPart).min(1) : template,
  ),
  name: z.optional(text(64)),
});

const responseFormat = z.discriminatedUnion(
  'type',
  [
    mapping('response_format', { type: z.literal('text') }),
    mapping('response_format', { type: z.literal('json_object') }),
    mapping('response_format', {
      type: z.literal('json_schema'),
      json_schema: mapping('response_format.json_schema', {
        name: plainId,
        description: z.optional(text(1024)),
        strict: z.boolean().optional(),
        schema: jsonSchema,
      }),
    }),
  ],
  { error: mustBe('text, json_object or json_schema') },
);

const fallbackModels = z.array(text(128)).max(fallbackModelsMax);
const messages = z.array(message).min(1, { error: 'must not be empty' }).max(messagesMax);
const options = freeMembers(reservedOptions).default({});

const objectInput = mapping('input', { type: z.literal('object'), schema: jsonSchema.default({}) });
const promptInput = z
  .discriminatedUnion('type', [mapping('input', { type: z.literal('text') }), objectInput], {
    error: mustBe('text or object'),
  })
  .default({ type: 'text' });

/** A test case for the qualification, with an input and the expectations of its answer. */
const testCase = mapping('cases[]', {
  input: z.union([z.string(), z.record(z.string(), z.unknown())], { error: 'must be text or a mapping' }),
  expect: mapping('cases[].expect', {
    schema: jsonSchema.optional(),
    equals: z.unknown().optional(),
    contains: z.optional(text(4096)),
  }).refine((expected) => Object.values(expected).some((value) => value !== undefined), {
    error: 'must hold schema, equals or contains',
  }),
});

const revisionLife = {
  id: plainId,
  state: z.enum(['draft', 'activated']).optional(),
  expires_at: z._default(z.nullable(instant), null),
  /** Duration from the activation on, such as `30d` or `12h`. */
  valid_for: z
    .string()
    .regex(/^[1-9]\d{0,4}[mhdw]$/, { error: 'must be a number of m, h, d or w, such as 30d' })
    .nullable()
    .default(null),
  cases: z.array(testCase).default([]),
};

const promptRevision = mapping('revisions[] of a prompt', {
  ...revisionLife,
  model: text(128),
  fallback_models: fallbackModels.default([]),
  messages,
  options,
  response_format: responseFormat.optional(),
  input: promptInput,
});

const step = mapping('steps[]', {
  id: plainId,
  model: text(128),
  fallback_models: fallbackModels.default([]),
  messages,
  options,
  response_format: responseFormat.optional(),
});

const workflowRevision = mapping('revisions[] of a workflow', {
  ...revisionLife,
  input: objectInput,
  steps: z.array(step).min(1, { error: 'must not be empty' }).max(stepsMax),
  output: selectSchema<string | { step: string }>((input) => (typeof input === 'string' ? template : stepOutput)),
});
const stepOutput = mapping('output', { step: plainId });

const shared = {
  id: plainId,
  status: z.enum(['enabled', 'disabled']).optional(),
  /** The revision that an unpinned call uses, or null for none. */
  active: plainId.nullable().optional(),
};

/** Schema of a function. The compiler proves that the parsed type is the stored one. */
export const functionSchema = z.discriminatedUnion(
  'kind',
  [
    mapping('functions[]', { ...shared, kind: z.literal('prompt'), revisions: z.array(promptRevision).default([]) }),
    mapping('functions[]', {
      ...shared,
      kind: z.literal('workflow'),
      revisions: z.array(workflowRevision).default([]),
    }),
  ],
  { error: mustBe('prompt or workflow') },
) satisfies z.ZodType<FunctionDocument>;
