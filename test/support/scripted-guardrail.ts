// A guardrail of kind http that answers as a test says, and records the requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFaultScript } from './fault-script.ts';

export interface GuardrailQuestionBody {
  readonly id: string;
  readonly call_id: string;
  readonly direction: 'input' | 'output';
  readonly texts: readonly string[];
}

type Answer = Readonly<Record<string, unknown>> | ((response: ServerResponse) => void);

type Answering = (question: GuardrailQuestionBody) => Answer | Promise<Answer>;

export interface ScriptedGuardrail {
  readonly url: string;
  readonly questions: readonly GuardrailQuestionBody[];
  readonly headers: readonly IncomingMessage['headers'][];
  /** Sets its answer from now on. */
  answer(answer: Answering): void;
  /** Forgets the requests, and answers as at the start. */
  clear(): void;
  /** Rejects if an answer that a test has set was never given. */
  stop(): Promise<void>;
}

/** Blocks a text that contains the word, and removes e-mail addresses. */
export const byWords = ({ texts }: GuardrailQuestionBody): Answer => {
  if (texts.some((text) => text.includes('forbidden'))) return { action: 'block', message: 'Not this word.' };
  const masked = texts.map((text) => text.replaceAll(/\w+@\w+\.\w+/g, '[mail]'));
  return masked.some((text, at) => text !== texts[at]) ? { action: 'mask', texts: masked } : { action: 'pass' };
};

/** `first` answers until a test sets another answer. */
export async function startScriptedGuardrail(first: Answering = byWords): Promise<ScriptedGuardrail> {
  const script = createFaultScript('a scripted guardrail');
  const questions: GuardrailQuestionBody[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let answering = first;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const question = JSON.parse(body) as GuardrailQuestionBody;
    questions.push(question);
    headers.push(request.headers);
    script.markSent(String(answering));
    const answer = await answering(question);
    if (typeof answer === 'function') return answer(response);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`,
    questions,
    headers,
    answer(next) {
      script.script(String(next));
      answering = next;
    },
    clear() {
      questions.length = 0;
      headers.length = 0;
      answering = first;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      script.check();
    },
  };
}
