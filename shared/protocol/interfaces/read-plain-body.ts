// The steps by which a body is read where only the gateway's plain members are its own.
import type * as z from 'zod/mini';
import { fail, GatewayError } from '../../errors/index.ts';
import { checkMembers, type JsonText } from '../wire/index.ts';
import { namesFunction } from './asked-model.ts';
import { plainGatewayMembers } from './plain-members.ts';
import { type MemberReading, readMembers } from './read-members.ts';
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

/** What only chat completions have: throws for the alias of a stored function, and for `preset`. */
function refuseChatOnly(json: JsonText, { preset }: Readonly<Record<string, unknown>>): void {
  if (namesFunction(json)) {
    const message = 'A stored function is called as a chat completion: POST /v1/chat/completions.';
    throw fail('invalid_function_request', { message, param: 'model' });
  }
  if ((preset ?? null) !== null) {
    throw fail('invalid_request', { message: 'preset: is read on chat completions only', param: 'preset' });
  }
}
