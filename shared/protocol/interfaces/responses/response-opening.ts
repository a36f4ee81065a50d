// A response that the gateway writes itself: what stands in it beside its output and what it repeats of its request.
import { ownResponseId } from './item-ids.ts';

export interface WrittenResponse {
  readonly id: string;
  readonly createdSeconds: number;
  /** As the client asked for it. */
  readonly model: string;
  readonly status?: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly error?: { readonly code: string; readonly message: string };
  readonly incompleteReason?: string | undefined;
  readonly usage?: unknown;
  /** The texts of its items. */
  readonly items?: readonly string[] | undefined;
  /** What it repeats of its request: the text of an object. */
  readonly settings: string;
}

export function responseText({ id, createdSeconds, model, settings, items = [], ...members }: WrittenResponse): string {
  const { status = 'in_progress', error = null, incompleteReason, usage = null } = members;
  const opening = {
    id: ownResponseId(id),
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
