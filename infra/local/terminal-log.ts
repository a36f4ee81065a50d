// The log of a local run as a person reads it: one line per finished request, before it one for each provider call that
// failed, and errors. The same fields that a deployed stage writes as JSON.
import { describeError, type Log, type LogFields } from '../../shared/foundation/log/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import { attemptLine, chargeLine, requestLine, withoutControl } from './request-line.ts';

interface TerminalLogOptions {
  readonly clock: Clock;
  readonly isColoured: boolean;
  /** Takes one line, its line feed included. */
  readonly write: (line: string) => void;
}

/** The lines of its provider calls say more. */
const codesOfAttempts: ReadonlySet<unknown> = new Set(['no_available_provider', 'execution_failed']);
/** Frames of a stack: the place of the fault and its callers. */
const framesMax = 5;

export function createTerminalLog({ clock, isColoured, write }: TerminalLogOptions): Log {
  const emit = (lines: readonly string[]): void => {
    try {
      // To the second, in UTC, as `gw calls` shows it.
      const time = `${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z`;
      for (const line of lines) write(`${time}  ${line}\n`);
    } catch {
      // A line that cannot be written is lost; the request it belongs to is not.
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
