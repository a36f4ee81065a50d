// A stream of Responses whose prompt is too long for every model. Agents shorten the conversation when a response fails by
// that, and take a 400 for final.
import type { GatewayError } from '../../../errors/index.ts';
import { type JsonText, toEventLine } from '../../wire/index.ts';
import type { RefusedStream } from '../index.ts';
import { responseText } from './response-opening.ts';
import { responseSettings } from './response-settings.ts';

/** Undefined: the error says more. */
export function refusedStream(
  json: JsonText,
  error: GatewayError,
  { id, createdSeconds }: RefusedStream,
): string | undefined {
  if (error.reason !== 'context_length_exceeded') return undefined;
  const body = JSON.parse(json.text) as Record<string, unknown>;
  const settings = JSON.stringify(responseSettings(body));
  const facts = { id, createdSeconds, model: String(body.model ?? ''), settings };
  const told = { code: error.reason, message: error.message };
  const events = {
    'response.created': `"sequence_number":0,"response":${responseText({ ...facts })}`,
    // SDKs throw this one, agents read the other.
    error: `"sequence_number":1,${JSON.stringify({ ...told, param: error.param ?? null }).slice(1, -1)}`,
    'response.failed': `"sequence_number":2,"response":${responseText({ ...facts, status: 'failed', error: told })}`,
  };
  return Object.entries(events)
    .map(([type, members]) => toEventLine(`{"type":"${type}",${members}}`, type))
    .join('');
}
