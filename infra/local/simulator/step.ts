// Declares the actions of a simulated provider on its connection, as data. A behaviour is a list of these steps, and
// play.ts performs the steps.

export type SimulatorStep =
  /** Status line and headers, which are sent at once, so that a client can see them before the first byte of a body. */
  | { readonly kind: 'head'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  /**
   * One write, whose bytes form one HTTP chunk (or a part of a body with a length) and are flushed before the next
   * step.
   */
  | { readonly kind: 'write'; readonly bytes: string | Uint8Array }
  /** Bytes that are sent unchanged, without HTTP's framing. */
  | { readonly kind: 'raw'; readonly text: string }
  | { readonly kind: 'wait'; readonly delayMs: number }
  /** Nothing more is sent, until the client disconnects. */
  | { readonly kind: 'silence' }
  /** The body ends as HTTP requires. */
  | { readonly kind: 'end' }
  /** Closes the connection at this point (FIN), after earlier writes were sent. */
  | { readonly kind: 'cut' }
  /** Resets the connection (RST); the client may also lose earlier writes. */
  | { readonly kind: 'reset' };

export type Steps = Iterable<SimulatorStep>;

export const end: SimulatorStep = { kind: 'end' };
export const cut: SimulatorStep = { kind: 'cut' };
export const reset: SimulatorStep = { kind: 'reset' };
export const silence: SimulatorStep = { kind: 'silence' };
export const raw = (text: string): SimulatorStep => ({ kind: 'raw', text });
/** Maximum delay, because a timer of Node that is set for longer fires at once. */
const delayMaxMs = 2 ** 31 - 1;

export const wait = (delayMs: number): SimulatorStep => ({ kind: 'wait', delayMs: Math.min(delayMs, delayMaxMs) });
export const write = (bytes: string | Uint8Array): SimulatorStep => ({ kind: 'write', bytes });
export const head = (status: number, headers: Readonly<Record<string, string>>): SimulatorStep => ({
  kind: 'head',
  status,
  headers,
});

/** Returns the steps of a complete body of a known length. */
export function body(status: number, contentType: string, text: string, headers: Record<string, string> = {}): Steps {
  const length = String(Buffer.byteLength(text));
  return [head(status, { 'content-type': contentType, 'content-length': length, ...headers }), write(text), end];
}

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Steps =>
  body(status, 'application/json', JSON.stringify(value), headers);
