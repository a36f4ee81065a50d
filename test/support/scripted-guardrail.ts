// A guardrail of kind http that answers as a test says, and records the requests.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface GuardrailQuestionBody {
  readonly id: string;
  readonly call_id: string;
  readonly direction: 'input' | 'output';
  readonly texts: readonly string[];
}

type Answer = Readonly<Record<string, unknown>> | ((response: ServerResponse) => void);

export interface ScriptedGuardrail {
  readonly url: string;
  readonly questions: readonly GuardrailQuestionBody[];
  readonly headers: readonly IncomingMessage['headers'][];
  /** Sets its answer from now on. */
  answer(answer: (question: GuardrailQuestionBody) => Answer | Promise<Answer>): void;
  clear(): void;
  stop(): Promise<void>;
}

/** Blocks a text that contains the word, and removes e-mail addresses. */
export const byWords = ({ texts }: GuardrailQuestionBody): Answer => {
  if (texts.some((text) => text.includes('forbidden'))) return { action: 'block', message: 'Not this word.' };
  const masked = texts.map((text) => text.replaceAll(/\w+@\w+\.\w+/g, '[mail]'));
  return masked.some((text, at) => text !== texts[at]) ? { action: 'mask', texts: masked } : { action: 'pass' };
};

export async function startScriptedGuardrail(): Promise<ScriptedGuardrail> {
  const questions: GuardrailQuestionBody[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let answering: (question: GuardrailQuestionBody) => Answer | Promise<Answer> = byWords;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const question = JSON.parse(body) as GuardrailQuestionBody;
    questions.push(question);
    headers.push(request.headers);
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
      answering = next;
    },
    clear() {
      questions.length = 0;
      headers.length = 0;
      answering = byWords;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
