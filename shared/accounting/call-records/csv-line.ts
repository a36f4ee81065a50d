// Writes a call as a line of CSV. Text that a spreadsheet would read as a formula gets an apostrophe before it.
import { type CallDocument, callDocument } from './call-document.ts';
import type { CallAttempt } from './call-record.ts';
import type { CallRecord } from './record-members.ts';
import { calledName } from './stored-kinds.ts';

const columns = [
  'created_at',
  'id',
  'workspace',
  'outcome',
  'error_code',
  'status',
  'interface',
  'model',
  'model_asked',
  'provider',
  'function_id',
  'revision_id',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'units',
  'cost_usd',
  'total_ms',
  'first_output_ms',
  'key_name',
  'key_public_id',
  'session_id',
  'user',
  'title',
  'tags',
  'blocked_by',
] as const satisfies readonly (keyof CallDocument)[];

export const csvHeader = [...columns, 'path'].join(',');

export function csvLine(call: CallRecord): string {
  const document = callDocument(call);
  return [...columns.map((name) => cell(document[name])), cell(describePath(call))].join(',');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'object' ? tagsText(value) : String(value);
  const isFormula = /^[\s]*[=+\-@\t\r]/.test(text);
  return `"${(isFormula ? `'${text}` : text).replaceAll('"', '""')}"`;
}

const tagsText = (tags: object): string =>
  Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

// Writes the path of a call through its providers in one line, for people: `globex status_500 → acme`.

/** Describes the attempts by their known values; undefined when there were none. */
export function describePath({
  attemptLog,
  attemptCauses,
  provider,
  cacheHit,
  replayOf,
}: CallRecord): string | undefined {
  if (replayOf !== undefined) return 'replay';
  if (cacheHit) return 'cache';
  const steps =
    attemptLog === undefined
      ? [...attemptCauses, ...(provider === undefined ? [] : [provider])]
      : attemptLog.map((attempt) => `${calledName(attempt)}${suffixOf(attempt)}`);
  return steps.join(' → ') || undefined;
}

/** Matches outcomes that only the operator can correct, so a text explains them. */
const keyRefused = /^(status|error_object)_40[13]$/;

function suffixOf({ outcome, reason }: CallAttempt): string {
  if (outcome === 'ok') return '';
  if (reason !== undefined && reason !== outcome) return ` ${outcome} (${reason})`;
  return keyRefused.test(outcome) ? ` ${outcome} (key refused)` : ` ${outcome}`;
}
