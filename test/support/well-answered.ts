// Rules of every answer to any request. They are plain checks instead of matchers, because there are many thousands,
// and the first one that fails reports the reply.
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type ErrorCode, errorCatalogue } from '../../shared/errors/index.ts';
import type { Reply } from './call-gateway.ts';
import { type ErrorBody, plainErrorOf, uuid } from './expect-error.ts';

const doneLine = 'data: [DONE]\n\n';
const inside = /node_modules|\/work\/|\bat \w+ \(\S+:\d|DynamoDB|sk-gw-/;
const lastNames = new Set(['error', 'message_stop', 'response.completed', 'response.incomplete', 'response.failed']);
const midStreamCodes = ['no_available_provider', 'request_deadline_exceeded', 'rate_limited', 'invalid_request'];

export interface AnswerExpectation {
  /** Statuses from 500 on that the injected faults explain. */
  readonly faults: readonly number[];
  /** Set if the client disconnected, so that a stream has no end. */
  readonly hasLeft?: boolean;
}

/** Returns whether the gateway ended a stream of any interface with an error. */
export const saysItBroke = (text: string): boolean => /data: \{("type":"error"|"error")/.test(text);

/** Throws an Error that describes the fault of the reply. */
export function checkWellAnswered(reply: Reply, { faults, hasLeft = false }: AnswerExpectation): void {
  const { status, headers } = reply;
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
  must(status < 500 || faults.includes(status), 'a 5xx of ours', reply);
  must(uuid.test(headers['x-request-id'] ?? ''), 'no x-request-id', reply);
  if (status !== 200) checkEnvelope(reply);
  else if (headers['content-type']?.startsWith('text/event-stream') !== true) checkAnswer(reply);
  else if (!hasLeft) checkStream(reply);
}

function checkAnswer(reply: Reply): void {
  must(!reply.isStream && reply.headers['content-type'] === 'application/json', 'an answer that is no JSON', reply);
  const body = readObject(reply.text, reply);
  // Both have their cost in `usage`.
  const isCompletion = 'choices' in body || body.object === 'response';
  if (body.type === 'message') {
    must(Number(reply.headers['x-gw-cost']) >= 0, 'a message without its cost', reply);
    return;
  }
  const isLanding = 'openai_base_url' in body;
  must(isCompletion || isLanding || 'data' in body || reply.text === '{}', 'neither an answer nor a listing', reply);
  // The cost is a number, whatever the provider's name of its usage is.
  const { cost } = (body.usage ?? {}) as { cost?: unknown };
  const isCost = typeof cost === 'number' && Number.isFinite(cost) && cost >= 0;
  must(isCost || !isCompletion, 'a cost that is none', reply);
}

function checkEnvelope(reply: Reply): void {
  const { status, headers, text, isStream } = reply;
  must(!isStream && headers['content-type'] === 'application/json', 'an error that is no JSON', reply);
  const {
    error: errorName,
    message,
    correlation_id,
    reason,
    detail,
    ...others
  } = plainErrorOf(readObject(text, reply) as never) as Partial<Record<keyof ErrorBody, unknown>>;
  // An unknown path below neither base URL is reported in OpenAI's format, with the code inside `error`.
  const error =
    status === 404 && typeof errorName === 'object' ? (errorName as { code?: unknown } | null)?.code : errorName;
  must(Object.keys(others).length === 0, 'members beside those of the envelope', reply);
  const entry = errorCatalogue[error as ErrorCode];
  must(entry !== undefined && entry.status === status, 'a code that does not have this status', reply);
  must(typeof message === 'string' && message.length > 0 && !inside.test(message), 'no fit message', reply);
  must(correlation_id === headers['x-request-id'], 'another correlation id', reply);
  must(reason === undefined || (status === 400 && typeof reason === 'string'), 'a reason out of place', reply);
  must(detail === undefined || error === 'schema_validation_failed', 'a detail out of place', reply);
}

function checkStream(reply: Reply): void {
  const { text } = reply;
  if (text.startsWith('event: ')) checkNamedEvents(reply);
  else checkChunks(reply);
}

/** Checks that each event has a name, and that the last one ends the answer or gives the reason why it broke. */
function checkNamedEvents(reply: Reply): void {
  const events = reply.text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
  const names = events.map((event) => /^event: ([\w.]+)\ndata: [^\n\r]*$/.exec(event)?.[1] ?? '');
  must(!names.includes(''), 'not one named data line an event', reply);
  // A broken response is reported twice: SDKs throw the first event, agents show the second.
  const failed = names.at(-1) === 'response.failed';
  const whole = failed ? names.slice(0, -1) : names;
  must(!failed || whole.at(-1) === 'error', 'response.failed without its error', reply);
  must(!whole.slice(0, -1).some((name) => lastNames.has(name)), 'more behind the end', reply);
  must(failed || !names.at(-1)?.startsWith('response.') || lastNames.has(names.at(-1) ?? ''), 'no end', reply);
  if (whole.at(-1) !== 'error') return;
  const error = readObject(events[whole.length - 1]?.split('\ndata: ')[1] ?? '', reply);
  const { details } = (error.error ?? {}) as { details?: { error_code: string } };
  must(
    midStreamCodes.includes(details?.error_code ?? String(error.code)),
    'an error event with a code of its own',
    reply,
  );
}

function checkChunks(reply: Reply): void {
  const { text } = reply;
  must(text.endsWith(doneLine) && text.indexOf(doneLine) === text.length - doneLine.length, 'not one [DONE]', reply);
  for (const event of text.slice(0, -doneLine.length).split('\n\n')) {
    if (event === '') continue;
    must(/^data: [^\n\r]*$/.test(event), 'not one data line an event', reply);
    const { error } = readObject(event.slice('data: '.length), reply);
    if (error === undefined || error === null) continue;
    const { code } = error as { code?: string };
    must(midStreamCodes.includes(code ?? ''), 'an error line with a code of its own', reply);
  }
}

function readObject(text: string, reply: Reply): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw failureOf('not JSON', reply);
  }
}

function must(holds: boolean, what: string, reply: Reply): void {
  if (!holds) throw failureOf(what, reply);
}

const failureOf = (what: string, { status, headers, text }: Reply): Error =>
  new Error(`${what}: ${JSON.stringify({ status, headers, text: text.slice(0, 2_000) })}`);
