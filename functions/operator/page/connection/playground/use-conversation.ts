// Contains a conversation with a model: the finished turns, and the current or last call.
import { useRef, useState } from 'preact/hooks';
import { type InterfaceName, interfaces } from '../../../../../shared/protocol/interface-pages/index.ts';
import {
  type Draft,
  formFields,
  type PlaygroundInterface,
  type PlaygroundToolCall,
  type PlaygroundTurn,
  type ShownOutput,
  sentCall,
} from '../../../../../shared/protocol/playground/index.ts';
import { readEvents } from '../../../../../shared/protocol/server-sent-events/index.ts';
import { RequestFailed, readFailure } from '../management.ts';

/** Outcome of the last call; `id` is null until its answer has begun. */
export interface ConversationOutcome {
  readonly interfaceName: InterfaceName;
  readonly draft: Draft;
  readonly id: string | null;
  readonly text: string;
  readonly calls: readonly PlaygroundToolCall[];
  /** URLs of images. */
  readonly images: readonly string[];
  readonly raw: string;
  readonly failure: RequestFailed | undefined;
  readonly firstOutputMs: number | undefined;
  /** Duration of the call; undefined while it runs. */
  readonly totalMs: number | undefined;
}

const nothingYet: Omit<ConversationOutcome, 'draft' | 'interfaceName'> = {
  id: null,
  text: '',
  calls: [],
  images: [],
  raw: '',
  failure: undefined,
  firstOutputMs: undefined,
  totalMs: undefined,
};

const stoppedText =
  'Nothing more is shown. The gateway reads the answer to its end, for some seconds at most, and charges what it reads.';
/** Maximum number of characters of a raw answer for display. */
const rawMaxCharacters = 400_000;

interface PlaygroundEndpoint {
  readonly baseUrl: string;
  readonly key: string;
}

export function useConversation() {
  const [outcome, setOutcome] = useState<ConversationOutcome>();
  const running = useRef<AbortController | undefined>(undefined);
  const send = async (endpoint: PlaygroundEndpoint, interfaceName: InterfaceName, draft: Draft) => {
    const calledInterface = interfaces[interfaceName];
    const call = new AbortController();
    running.current = call;
    setOutcome({ ...nothingYet, interfaceName, draft });
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const add = (change: (last: ConversationOutcome) => Partial<ConversationOutcome>) =>
      setOutcome((last) => (last === undefined || running.current !== call ? last : { ...last, ...change(last) }));
    try {
      await ask(
        { ...endpoint, calledInterface, body: calledInterface.body(draft), file: draft.file },
        {
          started: (id) => add(() => ({ id })),
          raw: (text) => add(({ raw }) => ({ raw: (raw + text).slice(0, rawMaxCharacters) })),
          shown: (output) => add((last) => withOutput(last, output, elapsed())),
        },
        call.signal,
      );
    } catch (error) {
      const failure = call.signal.aborted ? new RequestFailed('stopped', stoppedText) : error;
      if (!(failure instanceof RequestFailed)) throw error;
      add(() => ({ failure }));
    } finally {
      add(() => ({ totalMs: elapsed() }));
    }
  };
  return {
    outcome,
    isRunning: outcome !== undefined && outcome.totalMs === undefined,
    /** Turns from which the next call continues; the turn of a failed call is not among them. */
    turns: turnsAfter(outcome),
    send,
    stop: () => running.current?.abort(),
    forget: () => setOutcome(undefined),
  };
}

function withOutput(
  last: ConversationOutcome,
  { text = '', calls = [], images = [] }: ShownOutput,
  elapsedMs: number,
): Partial<ConversationOutcome> {
  const isOutput = text !== '' || calls.length > 0;
  const begins = isOutput && last.firstOutputMs === undefined;
  return { text, calls, images, ...(begins ? { firstOutputMs: elapsedMs } : {}) };
}

function turnsAfter(outcome: ConversationOutcome | undefined): readonly PlaygroundTurn[] {
  if (outcome === undefined || outcome.totalMs === undefined) return [];
  const { draft, failure, text, calls } = outcome;
  return failure === undefined ? [...draft.turns, { role: 'assistant', text, calls }] : draft.turns.slice(0, -1);
}

// Makes one call with an API key, as any client makes it. Returns the request, the raw answer, and its text.

interface Question {
  /** Base URL for clients, which ends in /v1. */
  readonly baseUrl: string;
  readonly key: string;
  readonly calledInterface: PlaygroundInterface;
  readonly body: Readonly<Record<string, unknown>>;
  readonly file: File | undefined;
}

interface Listener {
  /** Called with the answer's `x-request-id`. */
  readonly started: (id: string | null) => void;
  /** Called with all output so far, whenever output has arrived. */
  readonly shown: (output: ShownOutput) => void;
  /** Called with each raw event. */
  readonly raw: (text: string) => void;
}

const eventMaxBytes = 8 * 1024 * 1024;

/** Makes the call. Throws RequestFailed. */
async function ask(question: Question, listener: Listener, signal: AbortSignal) {
  const { baseUrl, key, calledInterface } = question;
  const { url, body } = sentCall(calledInterface, baseUrl, question.body);
  const response = await fetch(url, {
    method: 'POST',
    ...sentBody({ ...question, body }, `Bearer ${key}`),
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new RequestFailed('unreachable', `No gateway answers at ${baseUrl}.`);
  });
  listener.started(response.headers.get('x-request-id'));
  if (!response.ok) {
    const copy = response.clone();
    listener.raw(await copy.text());
    throw await readFailure(response);
  }
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body !== null)
    return readStream(response.body, calledInterface, listener);
  const text = await response.text();
  listener.raw(text);
  listener.shown(type.startsWith('text/') ? { text } : calledInterface.readAnswer(JSON.parse(text)));
}

/** A form has a content type with its boundary. */
function sentBody({ calledInterface, body, file }: Question, authorization: string) {
  if (calledInterface.file === undefined || file === undefined) {
    return { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  }
  const form = new FormData();
  for (const [name, text] of formFields(body)) form.append(name, text);
  form.append(calledInterface.file.field, file);
  return { headers: { authorization }, body: form };
}

async function readStream(body: ReadableStream<Uint8Array>, calledInterface: PlaygroundInterface, listener: Listener) {
  const fold = calledInterface.openFold?.();
  for await (const events of readEvents(bytesOf(body), eventMaxBytes)) {
    for (const { name, text } of events) {
      listener.raw(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
      if (text === '[DONE]') continue;
      const event = JSON.parse(text) as Record<string, unknown>;
      refuseFailure(event);
      fold?.add(event);
    }
    if (fold !== undefined) listener.shown(calledInterface.readAnswer(fold.answer()));
  }
}

/** Throws RequestFailed for an event that reports a broken stream, in the form of any interface. */
function refuseFailure({ type, error, response, ...event }: Record<string, unknown>): void {
  const failed = type === 'response.failed' ? (response as { readonly error?: unknown } | undefined)?.error : error;
  const fault = failed ?? (type === 'error' ? event : undefined);
  if (fault === undefined || fault === null) return;
  const { code, type: kind, message } = fault as { code?: unknown; type?: unknown; message?: unknown };
  throw new RequestFailed(String(code ?? kind), String(message));
}

/** Reads a stream through its reader, because not every browser can iterate over a stream. */
async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}
