// Why a key is refused, in words of its own for each case: its client learns what to do. They name no header: some agents
// take a text that does for a failure of their own log-in, and hide it.
import { fail, type GatewayError } from '../../errors/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { readKeySettings } from './key-settings.ts';

const reasons = {
  missing: 'No API key was sent. It is sent as `Authorization: Bearer <key>`.',
  malformed:
    'What was sent as the API key does not have the form of a key of this gateway: it is mistyped or cut off, belongs to another service, or was sent twice.',
  different: 'Two different API keys were sent with this request.',
  unknown: 'This gateway has no such API key.',
} as const;

export const refuseKey = (reason: keyof typeof reasons): GatewayError =>
  fail('UNAUTHORIZED', { message: reasons[reason] });

/** Of a key whose secret is right. `item`: as the refusal saw it. */
export function refuseEndedKey(item: Item, asksFunction = false): GatewayError {
  const { status, expiresAtMs } = readKeySettings(item);
  const message =
    status === 'active' && expiresAtMs !== null
      ? `The API key expired at ${new Date(expiresAtMs).toISOString()}.`
      : 'The API key was revoked.';
  return fail(asksFunction ? 'api_key_revoked' : 'UNAUTHORIZED', { message });
}
