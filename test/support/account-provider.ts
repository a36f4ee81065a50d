// A provider with several accounts, distinguished by the key of a call: each has a prompt cache of its own, and may be
// at its limit, refuse its key, or fail. It serves chat completions and Responses.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFaultScript } from './fault-script.ts';

/** Status that an account answers with. */
export type Account = 200 | 400 | 401 | 402 | 429 | 500;

export interface AccountCall {
  readonly key: string;
  readonly body: Record<string, unknown>;
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

export interface AccountProvider {
  /** Base URL; ends in /v1. */
  readonly url: string;
  readonly calls: AccountCall[];
  /** Accounts by key. Any other key is refused. */
  readonly accounts: Pick<Map<string, Account>, 'set' | 'delete'>;
  /** Rejects if a failure that a test gave an account was never answered. */
  stop(): Promise<void>;
}

const errors: Readonly<Record<Exclude<Account, 200>, object>> = {
  400: { message: 'temperature: must be at most 2', type: 'invalid_request_error' },
  401: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' },
  402: { message: 'No credit', code: 'insufficient_quota' },
  429: { message: 'Rate limit reached', type: 'rate_limit_error' },
  500: { message: 'The server had an error', type: 'server_error' },
};

async function bodyOf(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += String(chunk);
  return JSON.parse(text) as Record<string, unknown>;
}

const commonLength = (one: string, other: string): number => {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
};

export async function startAccountProvider(accounts: Readonly<Record<string, Account>>): Promise<AccountProvider> {
  const states = new Map(Object.entries(accounts));
  const script = createFaultScript('an account provider');
  const scriptFault = (status: Account) => {
    if (status !== 200) script.script(String(status));
  };
  for (const status of states.values()) scriptFault(status);
  const prompts = new Map<string, string[]>();
  const calls: AccountCall[] = [];
  let answerCount = 0;
  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then((body) => {
      const key = String(incoming.headers.authorization).replace('Bearer ', '');
      const status = states.get(key) ?? 401;
      const prompt = JSON.stringify(body.messages ?? body.input);
      const known = prompts.get(key) ?? [];
      const cached = Math.max(0, ...known.map((one) => commonLength(one, prompt)));
      const [promptTokens, cachedTokens] = [Math.ceil(prompt.length / 4), Math.floor(cached / 4)];
      calls.push({ key, body, promptTokens, cachedTokens });
      script.markSent(String(status));
      if (status === 200) prompts.set(key, [...known, prompt]);
      outgoing.writeHead(status, { 'content-type': 'application/json' });
      answerCount += 1;
      const answer = incoming.url?.endsWith('/responses')
        ? responseOf(answerCount, promptTokens)
        : completionOf(promptTokens, cachedTokens);
      outgoing.end(JSON.stringify(status === 200 ? answer : { error: errors[status] }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    accounts: {
      set(key, status) {
        scriptFault(status);
        return states.set(key, status);
      },
      delete: (key) => states.delete(key),
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      script.check();
    },
  };
}

const completionOf = (prompt: number, cached: number) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'scripted',
  choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: prompt,
    completion_tokens: 1,
    total_tokens: prompt + 1,
    prompt_tokens_details: { cached_tokens: cached },
  },
});

const responseOf = (call: number, prompt: number) => ({
  id: `resp_${call}`,
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'scripted',
  output: [
    {
      type: 'message',
      id: `msg_${call}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'done', annotations: [] }],
    },
  ],
  usage: { input_tokens: prompt, output_tokens: 1, total_tokens: prompt + 1 },
});
