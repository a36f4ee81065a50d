import { findMember, type JsonText } from '../../wire/index.ts';
import type { chatRequestSchema } from './chat-request.ts';

const names = [
  'provider',
  'models',
  'cache',
  'preset',
  'usage',
  'reasoning',
] as const satisfies readonly (keyof typeof chatRequestSchema.shape)[];

/** The only list of the gateway's own fields. They are never sent to a provider as they came, and null means absent. */
export const gatewayMembers: ReadonlySet<string> = new Set(names);

/**
 * Fields that no provider receives. The relevant parts of `provider` and `cache` are in other parts of the key, and
 * `usage` changes only the fields added to the answer. `model` is sent as the resolved model.
 */
const withoutReasoning: ReadonlySet<string> = new Set(['model', ...gatewayMembers]);
/**
 * Field that is sent to the provider in its own style; null means absent. Null in any other field is sent unchanged.
 */
const reasoning = 'reasoning';
const withReasoning: ReadonlySet<string> = new Set([...withoutReasoning].filter((name) => name !== reasoning));

export const leftOutOfCacheKey = (body: JsonText): ReadonlySet<string> =>
  isReasoningAbsent(body) ? withoutReasoning : withReasoning;

function isReasoningAbsent(body: JsonText): boolean {
  const member = findMember(body, reasoning);
  return member !== undefined && body.slice(member) === 'null';
}
