// The steps by which a body is read where only the gateway's plain members are its own.
import type * as z from 'zod/mini';
import { fail, GatewayError } from '../../errors/index.ts';
import { checkMembers, type JsonText } from '../wire/index.ts';
import { plainGatewayMembers } from './plain-members.ts';
import { type MemberReading, readMembers } from './read-members.ts';
import { refuseChatOnly } from './refuse-chat-only.ts';
import { refuseDoubles } from './refuse-doubles.ts';

export interface PlainBodyReading<Schema extends z.ZodMiniObject> {
  readonly schema: Schema;
  readonly reading: MemberReading;
  readonly refuseOtherCase: (names: readonly string[]) => void;
}

/** Throws the GatewayError of the first fault. */
export function readPlainBody<Schema extends z.ZodMiniObject>(
  json: JsonText,
  { schema, reading, refuseOtherCase }: PlainBodyReading<Schema>,
): { readonly raw: Readonly<Record<string, unknown>>; readonly body: z.infer<Schema> } {
  refuseOtherCase(json.members().map(({ name }) => name));
  refuseDoubles(json, plainGatewayMembers);
  const raw = readMembers(json, reading);
  refuseChatOnly(json, raw);
  return { raw, body: checkMembers(schema, raw) };
}

/** Whatever a body makes a check throw (a stack that is too deep, say) is the body's fault. */
export function orFault<Read>(read: () => Read): Read | GatewayError {
  try {
    return read();
  } catch (cause) {
    return cause instanceof GatewayError ? cause : fail('invalid_request', { cause });
  }
}
