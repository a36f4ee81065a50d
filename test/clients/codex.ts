// `npm run test:codex`: Codex without a terminal, from npm under .cache/, through a gateway to simulated providers,
// configured with the very lines of the README. Prints one line if it is skipped because the package is not available.
import assert from 'node:assert/strict';
import type { Harness } from '../support/harness.ts';
import { type AgentDriver, anyFormatChecks, windowTokens } from './any-format-agent.ts';
import { ask } from './codex-agent.ts';
import { type AgentChecks, checkCodingAgent, checkFormats, poorKey } from './coding-agent.ts';

interface SentItem {
  readonly type: string;
  readonly encrypted_content?: string;
  readonly output?: string;
}

const sentBody = (gateway: Harness, index: number) =>
  gateway.simulator.calls[index]?.body as {
    readonly input: readonly SentItem[];
    readonly tools: readonly { readonly type: string }[];
    readonly include: readonly string[];
    readonly client_metadata: object;
  };

const checks: AgentChecks = {
  'a text is streamed, billed, and recorded under its session and tags; what is its own reaches the provider': async (
    program,
    gateway,
  ) => {
    const tags = 'model_providers.gw.http_headers={"X-Gw-Tags"="team=search,agent=codex"}';
    const { text: answerText, failure } = await ask(program, gateway, { args: ['-c', tags] });
    assert.equal(failure, undefined);
    assert.match(answerText, /^Hello! You wrote “Hello”/);
    const [record] = await gateway.records();
    assert.equal(record?.interfaceId, 'responses');
    assert.ok(record.sessionId !== undefined && record.costPicoUsd > 0n);
    assert.deepEqual(record.tags, { team: 'search', agent: 'codex' });
    const { tools, include, client_metadata: metadata } = sentBody(gateway, 0);
    assert.ok(tools.some(({ type }) => type === 'namespace'));
    assert.deepEqual(include, ['reasoning.encrypted_content']);
    assert.equal(typeof metadata, 'object');
  },
  'a tool of its own is called after reasoning, and its result goes back with both': async (program, gateway) => {
    const { text: answerText, failure } = await ask(program, gateway, { prompt: 'Call the tool exec_command' });
    assert.equal(failure, undefined);
    assert.match(answerText, /^The tools answered/);
    const sentItems = sentBody(gateway, 1).input;
    const reasoned = sentItems.find(({ type }) => type === 'reasoning');
    assert.notEqual(reasoned?.encrypted_content ?? '', '');
    assert.ok(sentItems.some(({ type }) => type === 'function_call'));
    assert.ok(sentItems.some(({ type, output }) => type === 'function_call_output' && output !== ''));
  },
  'its search is refused at once with what the operator has to write': async (program, gateway) => {
    const { failure } = await ask(program, gateway, { without: ['web_search'] });
    assert.match(failure ?? '', /supported_params\.extras: \[web_search\]/);
    assert.equal(gateway.simulator.calls.length, 0);
  },
  'no credit is told in the words of the gateway, after two requests': async (program, gateway) => {
    const { failure } = await ask(program, gateway, { key: poorKey });
    assert.match(failure ?? '', /The call may cost/);
    assert.equal((await gateway.records('poor')).length, 2);
    assert.equal(gateway.simulator.calls.length, 0);
  },
  'a prompt that is too long is told in a way that it knows, at once': async (program, gateway) => {
    const { failure } = await ask(program, gateway, { model: 'acme/too-long' });
    assert.match(failure ?? '', /ran out of room in the model's context window/);
    assert.equal(gateway.simulator.calls.length, 1);
  },
  'without the two lines on retries it asks six times, and thirty times where a provider failed': async (
    program,
    gateway,
  ) => {
    const before = (await gateway.records('poor')).length;
    const without = ['request_max_retries', 'stream_max_retries'];
    await ask(program, gateway, { key: poorKey, without });
    assert.equal((await gateway.records('poor')).length - before, 6);
    await ask(program, gateway, { model: 'acme/refused', without });
    assert.equal(gateway.simulator.calls.length, 30);
  },
  'models of every format of text answer, one of vectors says at once that it does not serve the interface': (
    program,
    gateway,
  ) => checkFormats('Codex', gateway, async (model) => (await ask(program, gateway, { model })).failure),
  'a provider that fails before its output is replaced': async (program, gateway) => {
    const { text: answerText } = await ask(program, gateway, { model: 'acme/rescued' });
    assert.match(answerText, /simulated by the provider globex/);
    assert.deepEqual(
      gateway.simulator.calls.map(({ provider }) => provider),
      ['acme', 'globex'],
    );
  },
  'what cannot succeed is told, after four requests': async (program, gateway) => {
    const { failure } = await ask(program, gateway, { model: 'acme/refused' });
    assert.match(failure ?? '', /refused the gateway's own credentials/);
    assert.equal(gateway.simulator.calls.length, 4);
  },
  'a stream that breaks is told, after it was asked for twice': async (program, gateway) => {
    const { failure } = await ask(program, gateway, { model: 'acme/broken' });
    assert.match(failure ?? '', /no_available_provider: The stream broke off/);
    assert.equal(gateway.simulator.calls.length, 2);
  },
};

const driver: AgentDriver = {
  act: async (program, gateway, { model, prompt, home, resumes = false, picture, compacts = false }) => {
    const args = [
      ...['-c', 'model_reasoning_effort="high"'],
      // Codex compacts by the window size that it knows, not after a refusal.
      ...(compacts ? ['-c', `model_context_window=${windowTokens}`] : []),
      ...(compacts ? ['-c', `model_auto_compact_token_limit=${windowTokens - 1_000}`] : []),
      ...(picture === undefined ? [] : ['-i', picture, '--']),
    ];
    return ask(program, gateway, { model, prompt, home, resumes, args });
  },
  compacting: /CONTEXT CHECKPOINT COMPACTION/,
  read: (file) => ({ tool: 'exec_command', arguments: { cmd: `cat ${file}` } }),
  run: (command) => ({ tool: 'exec_command', arguments: { cmd: command } }),
  edit: (file, from, to) => ({ tool: 'exec_command', arguments: { cmd: `sed -i s/${from}/${to}/ ${file}` } }),
};

await checkCodingAgent(
  { name: 'Codex', packageName: '@openai/codex', version: '0.169.0', program: 'codex', speaks: 'responses' },
  { ...checks, ...anyFormatChecks(driver) },
);
