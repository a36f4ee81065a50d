// Writes server-sent events, with one `data:` line per event, and unchanged text.
/**
 * Writes an event. A newline in JSON can only be between tokens, so a blank in its place keeps the text one `data:`
 * line.
 */
export const toEventLine = (text: string, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${text.includes('\n') ? text.replaceAll('\n', ' ') : text}\n\n`;

/** The end marker of chat completions, which some servers of other interfaces write too. */
export const doneText = '[DONE]';
export const isEndMarker = (text: string): boolean => text.trim() === doneText;

/** A comment, which readers of event streams skip. */
export const keepAliveLine = ': keep-alive\n\n';

/** Messages for the client of a stream that failed after its first output. */
export const brokenStreamMessages = {
  no_available_provider: 'The stream broke off after its first output: the provider failed.',
  request_deadline_exceeded: 'The stream was cut off: it was not finished within its time budget.',
  rate_limited: 'The stream broke off after its first output: the provider is rate limited.',
  invalid_request: 'The stream broke off after its first output: the provider rejected the request.',
  schema_validation_failed: 'The answer does not satisfy the schema of response_format.',
} as const;

/** Replaces the code's message if no provider failed. */
export const stoppedMessage = 'The gateway was stopped while the call ran: send it again.';

export type MidStreamCode = keyof typeof brokenStreamMessages;
export const midStreamCodes = Object.keys(brokenStreamMessages) as MidStreamCode[];
