// Writes the log of a local run for people: one line per finished request, preceded by a line for each provider call
// that failed, and errors. The log shows the same fields that a deployed stage writes as JSON.

import { styleText } from 'node:util';
import { connectionFaultText } from '../../shared/foundation/constants/index.ts';
import { describeError, type Log, type LogFields } from '../../shared/foundation/log/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';

interface TerminalLogOptions {
  readonly clock: Clock;
  readonly isColoured: boolean;
  /** Writes one line, including its line feed. */
  readonly write: (line: string) => void;
}

/** Codes of calls whose attempts have more informative lines. */
const codesOfAttempts: ReadonlySet<unknown> = new Set(['no_available_provider', 'execution_failed']);
/** Maximum number of stack frames, which show the place of the fault and its callers. */
const framesMax = 5;

export function createTerminalLog({ clock, isColoured, write }: TerminalLogOptions): Log {
  const emit = (lines: readonly string[]): void => {
    try {
      // The time is shown to the second, in UTC, as in `gw calls`.
      const time = `${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z`;
      for (const line of lines) write(`${time}  ${line}\n`);
    } catch {
      // A line that cannot be written is lost, but its request is not.
    }
  };
  return {
    info(fields) {
      if (fields.event === 'request') emit([requestLine(fields, isColoured)]);
      else if (fields.event === 'attempt_failed') emit([attemptLine(fields, isColoured)]);
      else if (fields.event === 'charge_over_hold') emit([chargeLine(fields, isColoured)]);
    },
    error(fields, cause) {
      if (!codesOfAttempts.has(fields.error_code)) emit(errorLines(fields, cause).map(withoutControl));
    },
  };
}

function errorLines(fields: LogFields, cause: unknown): string[] {
  const { event, error_code: code, provider, message: text, correlation_id: id } = fields;
  const head = ['error', event, code, provider].filter((part) => part !== undefined).join(' ');
  if (cause === undefined) return [[head, text, id].filter((part) => part !== undefined).join('  ')];
  const { name, code: causeCode, message, causes, stack } = describeError(cause);
  const what = `${[name, causeCode].filter((part) => part !== undefined).join(' ')}: ${message}`;
  const why = causes === undefined ? what : `${what} (${causes})`;
  const frames = stack?.split(' | ').slice(0, framesMax) ?? [];
  return [[head, why, id].filter((part) => part !== undefined).join('  '), ...frames.map((frame) => `    ${frame}`)];
}

// Formats a finished request, or a failed provider call, as one line for people. Values that do not apply are omitted.

type Colour = 'green' | 'yellow' | 'red' | 'dim';
type Paint = (colour: Colour, text: string) => string;

const painter =
  (isColoured: boolean): Paint =>
  (colour, text) =>
    isColoured ? styleText(colour, text, { validateStream: false }) : text;

const gap = '  ';

/**
 * `200 ok  stream  demo/fallback  globex status_500 → acme  31 ms (first 30)  1+46 tokens  0.00004625 USD  team/ci
 * ID`. The alias of a function precedes the model that answered.
 */
function requestLine(written: LogFields, isColoured: boolean): string {
  const fields = withoutControls(written);
  const paint = painter(isColoured);
  const { status, provider_path: path, cost_usd: cost, correlation_id: id } = fields;
  const { 'gen_ai.request.model': requestedModel, 'gen_ai.response.model': model = requestedModel } = fields;
  const alias = fields.function_id !== undefined && requestedModel !== model ? requestedModel : undefined;
  const isReplay = fields.idempotent_replayed === true;
  return join([
    paint(colourOf(fields), `${status} ${codeOf(fields)}`),
    fields.unlisted_model === true ? 'in the catalogue, in no list of this key' : undefined,
    fields.stream === true ? 'stream' : undefined,
    alias,
    model ?? `${fields.method} ${fields.route}`,
    isReplay ? 'replay' : path === '-' ? undefined : path,
    timeOf(fields),
    fields.units ?? tokensOf(fields),
    cost === undefined ? undefined : `${cost} USD${fields.is_byok === true ? ' BYOK' : ''}`,
    fields.key_name === undefined ? fields.operator_name : `${fields.workspace_id}/${fields.key_name}`,
    fields.change,
    fields.change_target,
    fields.tags,
    paint('dim', String(id)),
  ]);
}

/** Returns a line on a provider call. The provider's message was masked and shortened before. */
export function attemptLine(written: LogFields, isColoured: boolean): string {
  const fields = withoutControls(written);
  const { provider, outcome, reason, message, model, correlation_id: id } = fields;
  const paint = painter(isColoured);
  const sentence =
    reason === undefined ? undefined : (sentences[String(reason)] ?? connectionFaultText(String(reason)));
  return join([
    paint('yellow', `${provider} ${outcome}`),
    model,
    sentence,
    message === undefined ? undefined : `it says: ${message}`,
    paint('dim', String(id)),
  ]);
}

/** Returns a line on a charge above the reservation of its input. */
function chargeLine(written: LogFields, isColoured: boolean): string {
  const { event, provider, message, model, correlation_id: id } = withoutControls(written);
  const paint = painter(isColoured);
  return join([paint('yellow', `${provider} ${event}`), model, String(message), paint('dim', String(id))]);
}

const sentences: Readonly<Record<string, string>> = {
  key_refused: 'the provider refused the key it was called with: is it the right one?',
  no_quota: 'the account of the key has no quota left',
};

const join = (parts: readonly unknown[]): string => parts.filter((part) => part !== undefined && part !== '').join(gap);

/** Escapes text of clients and providers, which must not control a terminal. */
const withoutControls = (fields: LogFields): LogFields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? withoutControl(value) : value]),
  );

const withoutControl = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '·');

function codeOf({ outcome, 'error.type': code }: LogFields): string {
  return outcome === 'cut' && code !== undefined ? `cut ${code}` : String(outcome);
}

function colourOf({ status, outcome }: LogFields): Colour {
  if (Number(status) >= 500 || outcome === 'cut') return 'red';
  return Number(status) >= 400 || outcome === 'client_gone' ? 'yellow' : 'green';
}

const timeOf = ({ total_ms: total, first_byte_ms: first }: LogFields): string =>
  first === undefined ? `${total} ms` : `${total} ms (first ${first})`;

const tokensOf = ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
}: LogFields): string | undefined => (input === undefined ? undefined : `${input}+${output} tokens`);
