// One chat completion with an API key, as any client makes it.
import { failureOf, RequestFailed } from './management.ts';

export interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cost_usd?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly attempts?: number;
  readonly cache_hit?: boolean;
}

export interface Question {
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
}

export interface Listener {
  readonly started: (id: string | null) => void;
  readonly text: (added: string) => void;
  readonly usage: (usage: Usage) => void;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: unknown } }[];
  readonly usage?: Usage | null;
  readonly error?: { readonly code: string; readonly message: string };
}

interface Answer {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
  readonly usage?: Usage;
}

const isFunction = (model: string): boolean => model.startsWith('gw/function/');

/** Streams the answer, but that of a stored function, which does not stream. Throws RequestFailed. */
export async function ask(question: Question, listener: Listener, signal: AbortSignal): Promise<void> {
  const { baseUrl, key, model, prompt } = question;
  const streams = !isFunction(model);
  const messages = [{ role: 'user', content: prompt }];
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, ...(streams ? { stream: true, usage: { include: true } } : {}) }),
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new RequestFailed('unreachable', `No gateway answers at ${baseUrl}.`);
  });
  listener.started(response.headers.get('x-request-id'));
  if (!response.ok) throw await failureOf(response);
  if (streams && response.body !== null) return readStream(response.body, listener);
  const { choices = [], usage = {} } = (await response.json()) as Answer;
  listener.text(String(choices[0]?.message?.content ?? ''));
  listener.usage(usage);
}

async function readStream(body: ReadableStream<Uint8Array>, listener: Listener): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = `${rest}${value}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) hear(line.slice('data: '.length), listener);
  }
}

function hear(event: string, listener: Listener): void {
  if (event === '[DONE]') return;
  const { choices = [], usage, error } = JSON.parse(event) as Chunk;
  if (error) throw new RequestFailed(error.code, error.message);
  for (const { delta } of choices) if (typeof delta?.content === 'string') listener.text(delta.content);
  if (usage) listener.usage(usage);
}
