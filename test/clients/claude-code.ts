// `npm run test:claude-code`: Claude Code without a terminal, from npm under .cache/, through a gateway to simulated
// providers. Prints one line if it is skipped because the package is not available. It sends nothing elsewhere.
import assert from 'node:assert/strict';
import { type AgentDriver, anyFormatChecks } from './any-format-agent.ts';
import { ask } from './claude-code-agent.ts';
import { turnChecks } from './claude-code-turns.ts';
import { type AgentChecks, checkCodingAgent, checkFormats, poorKey } from './coding-agent.ts';

type Block = { readonly type: string; readonly signature?: string };

const checks: AgentChecks = {
  'a text is streamed, billed, and recorded under its session and tags': async (program, gateway) => {
    const { result, is_error } = await ask(program, gateway, {});
    assert.equal(is_error, false);
    assert.match(result, /^Hello! You wrote “Hello”/);
    const [record] = await gateway.records();
    assert.equal(record?.interfaceId, 'messages');
    assert.ok(record.sessionId !== undefined && record.costPicoUsd > 0n);
    assert.deepEqual(record.tags, { team: 'search', agent: 'claude-code' });
    assert.equal(gateway.simulator.calls[0]?.query, 'beta=true');
  },
  'as a client of Amazon Bedrock it streams, and calls a tool after a thinking block': async (program, gateway) => {
    const { result, is_error } = await ask(program, gateway, { isAtBedrock: true });
    assert.deepEqual([is_error, /^Hello! You wrote “Hello”/.test(result)], [false, true], result);
    assert.equal((await gateway.records()).at(-1)?.interfaceId, 'invoke');
    const args = ['--allowedTools', 'Read'];
    const toolAnswer = await ask(program, gateway, { isAtBedrock: true, prompt: 'Call the tool Read', args });
    assert.deepEqual(
      [toolAnswer.is_error, /^The tools answered/.test(toolAnswer.result)],
      [false, true],
      toolAnswer.result,
    );
  },
  'a tool is called after a thinking block, and its result goes back with both': async (program, gateway) => {
    const { result, is_error } = await ask(program, gateway, {
      prompt: 'Call the tool Read',
      args: ['--allowedTools', 'Read'],
    });
    assert.equal(is_error, false);
    assert.match(result, /^The tools answered/);
    const second = gateway.simulator.calls[1]?.body as { messages: { role: string; content: Block[] | string }[] };
    const blocks = second.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    assert.ok(blocks.some(({ type, signature }) => type === 'thinking' && signature !== ''));
    assert.ok(blocks.some(({ type }) => type === 'tool_use'));
    assert.ok(blocks.some(({ type }) => type === 'tool_result'));
  },
  'two keys, one of them of Anthropic: that of the gateway counts, and two of the gateway name the variables': async (
    program,
    gateway,
  ) => {
    const foreign = 'sk-ant-api03-canary-of-another-service';
    const { result, is_error } = await ask(program, gateway, { otherKey: foreign });
    assert.deepEqual([is_error, result.includes('Hello!')], [false, true]);
    assert.ok(gateway.simulator.calls.length > 0);
    assert.ok(!JSON.stringify(gateway.simulator.calls.map(({ headers }) => headers)).includes(foreign));
    const reversed = await ask(program, gateway, { key: foreign, otherKey: gateway.key });
    assert.equal(reversed.is_error, false);
    const both = await ask(program, gateway, { otherKey: poorKey });
    assert.equal(both.is_error, true);
    assert.match(both.result, /Unset one of the variables ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN/);
  },
  'no credit is told at once, in the words of the gateway': async (program, gateway) => {
    const { result, is_error } = await ask(program, gateway, { key: poorKey });
    assert.equal(is_error, true);
    assert.match(result, /The call may cost/);
    assert.equal((await gateway.records('poor')).length, 1);
    assert.equal(gateway.simulator.calls.length, 0);
  },
  'models of every format of text answer, one of vectors says at once that it does not serve the interface': (
    program,
    gateway,
  ) =>
    checkFormats('Claude Code', gateway, async (model) => {
      const { result, is_error } = await ask(program, gateway, { model });
      return is_error ? result : undefined;
    }),
  'a provider that fails before its output is replaced': async (program, gateway) => {
    const { result, is_error } = await ask(program, gateway, { model: 'acme/rescued' });
    assert.equal(is_error, false);
    assert.match(result, /simulated by the provider globex/);
    assert.deepEqual(
      gateway.simulator.calls.map(({ provider }) => provider),
      ['acme', 'globex'],
    );
  },
  'what cannot succeed is asked for once, and told': async (program, gateway) => {
    const { result, is_error } = await ask(program, gateway, { model: 'acme/refused' });
    assert.equal(is_error, true);
    assert.match(result, /refused the gateway's own credentials/);
    assert.equal(gateway.simulator.calls.length, 1);
  },
  'a stream that breaks is told, and not asked for again without streaming': async (program, gateway) => {
    const { result, is_error } = await ask(program, gateway, { model: 'acme/broken' });
    assert.equal(is_error, true);
    assert.match(result, /no_available_provider: The stream broke off/);
    assert.deepEqual(
      gateway.simulator.calls.map(({ body }) => (body as { stream?: boolean }).stream),
      [true],
    );
  },
};

const driver: AgentDriver = {
  act: async (program, gateway, { model, prompt, home, resumes = false }) => {
    const args = ['--allowedTools', 'Read Edit Bash', ...(resumes ? ['--continue'] : [])];
    const { result, is_error } = await ask(program, gateway, { model, prompt, home, args });
    return { text: result, failure: is_error ? result : undefined };
  },
  compacting: /Your task is to create a detailed summary/,
  read: (file) => ({ tool: 'Read', arguments: { file_path: file } }),
  run: (command) => ({ tool: 'Bash', arguments: { command } }),
  edit: (file, from, to) => ({ tool: 'Edit', arguments: { file_path: file, old_string: from, new_string: to } }),
  look: (picture) => ({ tool: 'Read', arguments: { file_path: picture } }),
};

await checkCodingAgent(
  {
    name: 'Claude Code',
    packageName: '@anthropic-ai/claude-code',
    version: '2.1.330',
    program: 'claude',
    speaks: 'messages',
  },
  { ...checks, ...turnChecks, ...anyFormatChecks(driver) },
);
