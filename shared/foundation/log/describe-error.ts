// What of an error may stand in a log. Messages of foreign errors quote what they choke on (a JSON text, a header
// value), so quoted text and anything that looks like a token is masked, and of causes only names and codes are kept.
import { redact } from './redact.ts';

export interface ErrorDescription {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  /** Frames only: the head of a stack repeats the message. */
  readonly stack?: string;
  /** Names or codes of the causes, nearest first. */
  readonly causes?: string;
}

const messageMaxCharacters = 300;
const stackMaxFrames = 20;
/** Chains are two or three deep; a cycle of causes must end too. */
const causesMax = 5;

const quotedText = /"[^"]*"?/g;

export function describeError(error: unknown): ErrorDescription {
  if (!isErrorLike(error)) return { name: typeof error, message: 'a value that is not an error was thrown' };
  const code = codeOf(error);
  const stack = framesOf(error);
  const causes = causesOf(error);
  return {
    name: nameOf(error),
    ...(code === undefined ? {} : { code }),
    message: cleanMessage(error),
    ...(stack === '' ? {} : { stack }),
    ...(causes === '' ? {} : { causes }),
  };
}

/** Not `instanceof`: errors of another realm count. */
const isErrorLike = (error: unknown): error is { message: unknown } =>
  typeof error === 'object' && error !== null && 'message' in error;

const member = (error: object, name: string): unknown => (error as Record<string, unknown>)[name];

const nameOf = (error: object): string => {
  const name = member(error, 'name');
  return typeof name === 'string' ? name : 'Error';
};

const codeOf = (error: object): string | undefined => {
  const code = member(error, 'code');
  return typeof code === 'string' ? code : undefined;
};

function cleanMessage(error: object): string {
  const message = member(error, 'message');
  if (typeof message !== 'string') return '';
  // Cut first: the patterns must not work through megabytes.
  return redact(message.slice(0, messageMaxCharacters).replaceAll(quotedText, '"…"'));
}

function framesOf(error: object): string {
  const stack = member(error, 'stack');
  if (typeof stack !== 'string') return '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, stackMaxFrames)
    .map((frame) => frame.trim())
    .join(' | ');
}

function causesOf(error: object): string {
  const names: string[] = [];
  let cause = member(error, 'cause');
  while (isErrorLike(cause) && names.length < causesMax) {
    const code = codeOf(cause);
    names.push(code === undefined ? nameOf(cause) : `${nameOf(cause)} ${code}`);
    cause = member(cause, 'cause');
  }
  return names.join(' < ');
}
