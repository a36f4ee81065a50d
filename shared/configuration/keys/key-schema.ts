// Defines the schema of a key's settings as operators write them. The gateway file, changes over HTTP, the documents of
// the management interface and their description use this schema.
import * as z from 'zod/mini';
import { keySettings } from '../settings/index.ts';
import {
  contentLog,
  guardrailIds,
  instant,
  limit,
  modelChoice,
  reset,
  shapeOf,
  tags,
  text,
  usd,
} from '../value-forms/index.ts';

/** Name that can be stored and shown in a line, without control characters and halves of surrogate pairs. */
export const keyName = text(64).check(z.regex(/^[^\p{Cc}\p{Cs}]*$/u, { error: 'must not hold control characters' }));

export const keySchema = z.object({
  name: keyName,
  status: z.enum(['active', 'revoked']),
  ...shapeOf(keySettings, {
    count: limit,
    usd: z.nullable(usd),
    reset: z.nullable(reset),
    instant: z.nullable(instant),
    models: modelChoice,
    tags,
    narrowedLog: z.nullable(z.partial(contentLog)),
    ids: guardrailIds,
  }),
});

/** The settings of a key with the field names of a gateway file. */
export type WrittenKey = Readonly<z.output<typeof keySchema>>;

/** Changes of a key; an absent setting keeps its value, or has its default. */
export const keyChanges = z.partial(keySchema);
