// Defines the fields of a Converse request that the gateway reads, with their schema, and the values derived from them.
import * as z from 'zod/mini';
import { isJsonObject, listOf } from '../../wire/index.ts';
import { type ClientRequest, type MadeOfMembers, plainMembers } from '../index.ts';

/** A field that is read leniently, because the provider checks its type. */
const anything = z.optional(z.unknown());
const text = z.nullish(z.string());
const objects = listOf(z.looseObject({}), { isGood: isJsonObject });

const { model: _inPath, ...gatewayMembers } = plainMembers;

/** Schema of the fields. The schema is loose, so any other field reaches the provider unchanged. */
export const converseSchema = z.looseObject({
  ...gatewayMembers,
  messages: listOf(z.looseObject({ role: z.string(), content: z.array(z.unknown()) }), {
    itemsMin: 1,
    isGood: (message) => isJsonObject(message) && typeof message.role === 'string' && Array.isArray(message.content),
  }),
  system: z.nullish(objects),
  inferenceConfig: z.nullish(
    z.looseObject({
      maxTokens: z.nullish(z.int().check(z.positive())),
      temperature: z.nullish(z.number()),
      topP: z.nullish(z.number()),
      stopSequences: z.nullish(listOf(z.string())),
    }),
  ),
  toolConfig: z.nullish(z.looseObject({ tools: z.nullish(objects), toolChoice: anything })),
  additionalModelRequestFields: z.nullish(z.looseObject({})),
  guardrailConfig: z.nullish(z.looseObject({})),
  outputConfig: z.nullish(z.looseObject({ textFormat: z.nullish(z.looseObject({ type: text })), effort: text })),
  performanceConfig: z.nullish(z.looseObject({ latency: text })),
  serviceTier: z.nullish(z.looseObject({ type: text })),
});

/** The fields of a request without the values derived from them. */
export type ConverseMembers = Omit<ClientRequest, MadeOfMembers> & { readonly maxOutputTokens: number | undefined };
