// Writes one JSON line per event. A field is written only when its name is on the list below and its value is a scalar,
// so headers, bodies and prompts cannot get in by accident. Stacks are written only here. A log never throws.
import type { FailingControl } from '../constants/index.ts';
import type { Clock } from '../time/index.ts';
import { describeError } from './describe-error.ts';
import { embedMetrics, type Metrics } from './embedded-metrics.ts';
import { escapeControls } from './escape-controls.ts';

/** Every field that a line may have besides time, level and error. A new field must be added here. */
const logFieldNames = [
  'event',
  'message',
  'stage',
  'correlation_id',
  'trace_id',
  'span_id',
  'session_id',
  'execution_id',
  'workspace_id',
  'key_id',
  'key_name',
  'operator_id',
  'operator_name',
  'change',
  'change_target',
  'function_id',
  'revision_id',
  'referer',
  'title',
  'tags',
  'settlement_step',
  'route',
  'method',
  'status',
  'error_code',
  'reason',
  'exhausted',
  'unanswered',
  'paused',
  'unlisted_model',
  'outcome',
  'model',
  'provider',
  'credential',
  'guardrail',
  'direction',
  'failed_control',
  'attempts',
  // All provider calls: one field for people, and one with status and milliseconds of each.
  'provider_path',
  'provider_attempts',
  'stream',
  'cache',
  'idempotent_replayed',
  'fallback_used',
  'is_byok',
  'usage_estimated',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'units',
  'cost_usd',
  'queued_ms',
  'first_byte_ms',
  'gateway_ms',
  'provider_ms',
  'total_ms',
  'client_gone',
  'cold_start',
  'port',
  'alert',
  'alert_id',
  // OpenTelemetry's attribute names (semantic conventions for generative AI).
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.output.type',
  'gen_ai.conversation.id',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'error.type',
] as const;

type LogFieldName = (typeof logFieldNames)[number];
type LogValue = string | number | boolean | bigint | null | undefined;
export type LogFields = Partial<Record<LogFieldName, LogValue>> & { readonly failed_control?: FailingControl };

export interface Log {
  /** Writes `metrics` into the same line, in the embedded format from which CloudWatch extracts them. */
  info(fields: LogFields, metrics?: Metrics): void;
  /** Writes the error's name, cleaned message and frames, and the names of its causes. */
  error(fields: LogFields, cause?: unknown): void;
}

const logLevels = ['info', 'error', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

interface LogOptions {
  readonly clock: Clock;
  /** Written in every line. */
  readonly stage?: string | undefined;
  /** Written in every line. */
  readonly version?: string | undefined;
  /** The lowest level that is written. */
  readonly level?: LogLevel;
  /** Writes one line, its line feed included. */
  readonly write?: (line: string) => void;
}

/**
 * Maximum number of characters of a value. Longer values are not an id, code, name or list of tags. CloudWatch accepts
 * 256 KiB per line.
 */
const valueMaxCharacters = 2_048;
const allowedNames: ReadonlySet<string> = new Set(logFieldNames);

export function createLog({ clock, stage, version, level = 'info', write = writeToStdout }: LogOptions): Log {
  const emit = (lineLevel: LogLevel, fields: LogFields, error?: unknown, metrics?: Metrics): void => {
    if (logLevels.indexOf(lineLevel) < logLevels.indexOf(level)) return;
    try {
      const nowMs = clock.nowMs();
      const head = { time: new Date(nowMs).toISOString(), level: lineLevel, stage, version };
      const last: Record<string, unknown> = metrics === undefined ? {} : embedMetrics(metrics, nowMs);
      if (error !== undefined) last.error = describeError(error);
      const line = joined(JSON.stringify(head), allowedText(fields, last), JSON.stringify(last));
      write(`${escapeControls(line)}\n`);
    } catch {
      // A line that cannot be written is lost, and its request continues.
    }
  };
  return {
    info: (fields, metrics) => emit('info', fields, undefined, metrics),
    error: (fields, cause) => emit('error', fields, cause),
  };
}

/**
 * Returns the JSON text of the allowed fields that are not in `later` as well. The fields are written without a copy,
 * because fifty fields would make a copy a slow hash table. An object in place of a scalar is dropped, which the types
 * alone cannot prevent.
 */
const allowedText = (fields: LogFields, later: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(fields, function (this: Readonly<Record<string, unknown>>, name: string): unknown {
    const value = this[name];
    if (name === '') return value;
    if (!allowedNames.has(name) || later[name] !== undefined) return undefined;
    if (typeof value === 'string') return value.slice(0, valueMaxCharacters);
    if (typeof value === 'bigint') return value.toString();
    return typeof value === 'object' && value !== null ? undefined : value;
  });

/** Joins the texts of JSON objects to the text of one object. The first object is not empty. */
function joined(first: string, ...rest: readonly string[]): string {
  let text = first.slice(0, -1);
  for (const each of rest) if (each !== '{}') text += `,${each.slice(1, -1)}`;
  return `${text}}`;
}

const writeToStdout = (line: string): void => {
  process.stdout.write(line);
};
