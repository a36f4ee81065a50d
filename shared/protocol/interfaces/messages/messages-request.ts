// Defines the fields of a Messages request that the gateway reads, with their schema, and the values derived from them.
import * as z from 'zod/mini';
import { isJsonObject, listOf } from '../../wire/index.ts';
import { type ClientRequest, conversation, type MadeOfMembers, plainMembers } from '../index.ts';

/** A field that is read leniently, because the provider checks its type. */
const anything = z.optional(z.unknown());

const members = {
  ...plainMembers,
  messages: conversation,
  tools: z.nullish(listOf(z.looseObject({}), { isGood: isJsonObject })),
  context_management: anything,
};

/** Schema of the fields. The schema is loose, so any other field reaches the provider unchanged. */
export const messagesSchema = z.looseObject({
  ...members,
  // 0 writes the prompt into the provider's cache without an answer.
  max_tokens: z.int().check(z.nonnegative()),
  stream: z.nullish(z.boolean()),
});

/** Schema of a count of tokens, which has no output. */
export const countTokensSchema = z.looseObject({ ...members, max_tokens: anything, stream: anything });

/** The fields of a request without the values derived from them. */
export type MessagesMembers = Omit<ClientRequest, MadeOfMembers> & {
  /** `max_tokens`; 0 if tokens are counted. */
  readonly maxOutputTokens: number;
};
