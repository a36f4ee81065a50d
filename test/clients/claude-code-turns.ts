// Claude Code's conversations when a provider refuses a request or reasons in silence, and when a key is invalid.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { keepAliveCommentMs } from '../../shared/foundation/constants/index.ts';
import { newKey } from '../support/gateway-file.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { watchedClock } from '../support/watched-clock.ts';
import { ask, type ClaudeCodeRun, withProvider } from './claude-code-agent.ts';
import {
  blocksOf,
  type MessageBody,
  startMessagesProvider,
  textEvents,
  thinkingBegun,
  thinkingEnded,
} from './claude-code-provider.ts';
import type { AgentChecks } from './coding-agent.ts';

interface Repair {
  readonly title: string;
  readonly words: string;
  readonly isWrong: (body: MessageBody) => boolean;
  readonly asking: ClaudeCodeRun;
}

const readFile = (name: string, content: string | Uint8Array): ClaudeCodeRun => ({
  prompt: (home) => `Read ${join(home, name)}`,
  files: { [name]: content },
  args: ['--allowedTools', 'Read'],
});

const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Errors after which Claude Code repairs its request, because it recognises the provider's words. */
const repairs: readonly Repair[] = [
  {
    title: 'thinking whose signature is not taken is left out',
    words: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    isWrong: (body) => blocksOf(body).some(({ type }) => type === 'thinking'),
    asking: readFile('notes.txt', 'Notes.'),
  },
  {
    title: 'an image that is not taken is left out',
    words: 'messages.2.content.0.image.source.base64.data: Could not process image',
    isWrong: (body) => blocksOf(body).some(({ type }) => type === 'image'),
    asking: readFile('picture.png', onePixel),
  },
  {
    title: 'adaptive thinking is asked for otherwise, or not at all',
    words: 'adaptive thinking is not supported on this model',
    isWrong: ({ thinking }) => thinking?.type === 'adaptive',
    asking: {},
  },
  {
    title: 'an output bound that leaves no room for the input is lowered',
    words:
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
    isWrong: ({ max_tokens: bound }) => bound > 10_000,
    asking: {},
  },
];

const repairChecks: AgentChecks = Object.fromEntries(
  repairs.map(({ title, words, isWrong, asking }) => [
    `what a provider says of the request reaches it: ${title}`,
    async (program) => {
      const provider = await startMessagesProvider({ refuses: (body) => (isWrong(body) ? words : undefined) });
      await withProvider(provider, {}, async (gateway) => {
        const { result, is_error } = await ask(program, gateway, asking);
        const wrong = provider.bodies.map((body) => isWrong(JSON.parse(body) as MessageBody));
        assert.deepEqual([is_error, result], [false, 'Done'], `${result}; wrong: ${wrong.join()}`);
        assert.ok(wrong.includes(true));
        assert.equal(wrong.at(-1), false);
      });
    },
  ]),
);

const keys = { revoked: newKey(), expired: newKey(), unknown: newKey(), malformed: 'sk-gw-nobody' };

/** The gateway's messages by the fault of the key. */
const saidOfKeys: Readonly<Record<keyof typeof keys, RegExp>> = {
  revoked: /The API key was revoked/,
  expired: /The API key expired at 2020-01-01/,
  unknown: /This gateway has no such API key/,
  malformed: /does not have the form of a key of this gateway/,
};

const keyChecks: AgentChecks = Object.fromEntries(
  Object.entries(saidOfKeys).map(([what, words]) => [
    `a key that is ${what} is told so, at once, and is not taken for a log-in`,
    async (program) => {
      const provider = await startMessagesProvider({ refuses: () => undefined });
      const ofTeam = [
        { name: 'revoked', key: keys.revoked, status: 'revoked' },
        { name: 'expired', key: keys.expired, expires_at: '2020-01-01T00:00:00Z' },
      ];
      await withProvider(provider, { moreWorkspaces: [{ id: 'others', keys: ofTeam }] }, async (gateway) => {
        const { result, is_error } = await ask(program, gateway, { key: keys[what as keyof typeof keys] });
        assert.equal(is_error, true);
        assert.match(result, words);
        assert.doesNotMatch(result, /log(ged)? in|\/login/i);
        const requestLines = gateway.logLines.filter((line) => line.includes('"route":"/v1/messages"'));
        assert.deepEqual([requestLines.length, provider.bodies.length], [1, 0]);
      });
    },
  ]),
);

const thinkingMs = 60_000;

const silenceChecks: AgentChecks = {
  'a model that thinks for a minute without a word is waited for': async (program) => {
    const clock = watchedClock();
    const provider = await startScriptedProvider(async (outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(thinkingBegun);
      // Only the gateway's clock moves, so nothing waits.
      await clock.waitsFor((delayMs) => delayMs === keepAliveCommentMs);
      clock.advance(thinkingMs);
      outgoing.end(thinkingEnded + textEvents('Thought', 1));
    });
    const models = { 'acme/echo': ['acme', 'globex'].map((id) => ({ provider: id, upstream: 'echo' })) };
    const providers = { acme: { apis: ['messages'], base_url: provider.url }, globex: { apis: ['messages'] } };
    await withProvider(provider, { clock, streamBudgetSeconds: 300, models, providers }, async (gateway) => {
      const { result, is_error } = await ask(program, gateway, {});
      assert.deepEqual([is_error, result], [false, 'Thought']);
      assert.equal(provider.bodies.length, 1);
      assert.equal(gateway.simulator.calls.length, 0);
    });
  },
};

const overflowCheck: AgentChecks = {
  'a prompt that is too long is said in the words that it looks for, whatever the provider speaks': async (program) => {
    const upstream = 'error-400:context_length_exceeded';
    for (const api of ['chat-completions', 'generate-content', 'converse', 'responses', 'messages'] as const) {
      const provider = await startMessagesProvider({ refuses: () => undefined });
      const models = { 'acme/echo': [{ provider: 'acme', upstream }] };
      await withProvider(provider, { models, providers: { acme: { apis: [api] } } }, async (gateway) => {
        const { result, is_error } = await ask(program, gateway, {});
        assert.equal(is_error, true);
        assert.match(result, /^Prompt is too long/);
      });
    }
  },
};

export const turnChecks: AgentChecks = { ...keyChecks, ...silenceChecks, ...repairChecks, ...overflowCheck };
