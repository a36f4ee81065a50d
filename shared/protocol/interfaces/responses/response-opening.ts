// Writes the gateway's own fields of a response. The output, and the fields that repeat the request, are written
// elsewhere.
import type { GatewayError } from '../../../errors/index.ts';
import { type JsonObject, toEventLine } from '../../wire/index.ts';
import { ownItemMark, type RefusedStream } from '../index.ts';
import { responseSettings } from './response-settings.ts';

interface WrittenResponse {
  /** Id for the client. */
  readonly id: string | undefined;
  readonly createdSeconds: number;
  /** Model as the client named it. */
  readonly model: string;
  readonly status?: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly error?: { readonly code: string; readonly message: string };
  readonly incompleteReason?: string | undefined;
  readonly usage?: unknown;
  /** The response's items, each as JSON text. */
  readonly items?: readonly string[] | undefined;
  /** Settings repeated from the request, as the JSON text of an object. */
  readonly settings: string;
}

export function responseText({ id, createdSeconds, model, settings, items = [], ...members }: WrittenResponse): string {
  const { status = 'in_progress', error = null, incompleteReason, usage = null } = members;
  const opening = {
    id,
    object: 'response',
    created_at: createdSeconds,
    status,
    completed_at: null,
    error,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    model,
    usage,
  };
  return `${JSON.stringify(opening).slice(0, -1)},"output":[${items.join(',')}],${settings.slice(1)}`;
}

// Ids of items in answers that the gateway wrote itself. They are recognizable, because no provider knows them.

export const ownItemId = (prefix: string, answerId: string, index: number): string =>
  `${prefix}${ownItemMark}${plainId(answerId)}_${index}`;

export const ownResponseId = (answerId: string): string => `resp_${plainId(answerId)}`;

const plainId = (id: string): string => id.replaceAll(/\W/g, '');

// Writes a stream of Responses for a prompt that is too long for every model. Agents shorten the conversation when a
// response fails for that reason, and treat a 400 as final.
export function refusedStream(body: JsonObject, error: GatewayError, { id, createdSeconds }: RefusedStream): string {
  const settings = responseSettings(body);
  const facts = { id: ownResponseId(id), createdSeconds, model: String(body.model ?? ''), settings };
  const errorFields = { code: 'context_length_exceeded', message: error.message };
  const events = {
    'response.created': `"sequence_number":0,"response":${responseText({ ...facts })}`,
    // SDKs throw this error, agents read the other.
    error: `"sequence_number":1,${JSON.stringify({ ...errorFields, param: error.param ?? null }).slice(1, -1)}`,
    'response.failed': `"sequence_number":2,"response":${responseText({ ...facts, status: 'failed', error: errorFields })}`,
  };
  return Object.entries(events)
    .map(([type, members]) => toEventLine(`{"type":"${type}",${members}}`, type))
    .join('');
}
