// Defines the fields of a Responses request that the gateway reads.
import * as z from 'zod/mini';
import { isJsonObject, listOf } from '../../wire/index.ts';
import { plainMembers } from '../index.ts';

const flag = z.nullish(z.boolean());
/** A field that is read leniently, because the provider checks its type. */
const anything = z.optional(z.unknown());

/** Schema of the fields. The schema is loose, so any other field reaches the provider unchanged. */
export const responsesSchema = z.looseObject({
  ...plainMembers,
  stream: flag,
  store: flag,
  background: flag,
  max_output_tokens: z.nullish(z.int().check(z.positive())),
  tools: z.nullish(listOf(z.looseObject({}), { isGood: isJsonObject })),
  input: anything,
  text: anything,
  service_tier: anything,
  context_management: anything,
  previous_response_id: anything,
  conversation: anything,
  prompt: anything,
  prompt_cache_retention: anything,
});

export type ResponsesBody = z.infer<typeof responsesSchema>;
