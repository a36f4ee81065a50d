// The fields of a Messages request that the gateway reads: their schema, and the values derived from them.
import * as z from 'zod/mini';
import { isJsonObject, listOf } from '../../wire/index.ts';
import { type ClientRequest, conversation, type MadeOfMembers, plainMembers } from '../index.ts';

/** Read as far as it can be read: its type is the provider's business. */
const anything = z.optional(z.unknown());

const members = {
  ...plainMembers,
  messages: conversation,
  tools: z.nullish(listOf(z.looseObject({}), { isGood: isJsonObject })),
  context_management: anything,
};

/** Loose: any other field reaches the provider unchanged. */
export const messagesSchema = z.looseObject({
  ...members,
  // 0 writes the prompt into the provider's cache and asks for no answer.
  max_tokens: z.int().check(z.nonnegative()),
  stream: z.nullish(z.boolean()),
});

/** A count of tokens asks for no output. */
export const countTokensSchema = z.looseObject({ ...members, max_tokens: anything, stream: anything });

/** A request without the values derived from it. */
export type MessagesMembers = Omit<ClientRequest, MadeOfMembers> & {
  /** `max_tokens`; 0 where tokens are counted. */
  readonly maxOutputTokens: number;
};
