// `npm run test:claude-code`: Claude Code without a terminal, from npm under .cache/, through a gateway to simulated providers.
// Says in one line that it is skipped where the package cannot be had. It sends nothing to anybody else.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, Skipped, tryCommand } from '../../infra/verify/verify-step.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import useOneFolderForTheRun, { temporaryFolder } from '../support/temporary-folder.ts';

const version = '2.1.330';

/** Installed at its first use. Throws Skipped where it cannot be. */
async function claudeCode(): Promise<string> {
  const folder = join(projectRoot, '.cache', `claude-code-${version}`);
  const program = join(folder, 'node_modules/.bin/claude');
  if (existsSync(program)) return program;
  // Its own script links the program of this platform.
  const asked = ['install', '--prefix', folder, '--no-save', `@anthropic-ai/claude-code@${version}`];
  const installed = await tryCommand('npm', asked);
  if (installed.code === 0 && existsSync(program)) return program;
  rmSync(folder, { recursive: true, force: true });
  throw new Skipped(`cannot be installed here: ${installed.output.trim().split('\n').at(-1) ?? 'no reason given'}`);
}

const poor = newKey();
const upstreams = {
  'acme/echo': ['echo'],
  'acme/refused': ['error-401'],
  'acme/rescued': ['error-500', 'echo'],
  'acme/broken': ['error-after-chunks:3'],
};

const startGateway = (): Promise<Harness> =>
  startHarness({
    models: Object.fromEntries(
      Object.entries(upstreams).map(([id, behaviours]) => [
        id,
        behaviours.map((upstream, index) => ({ provider: ['acme', 'globex'][index] ?? '', upstream })),
      ]),
    ),
    providers: { acme: { apis: ['messages'] }, globex: { apis: ['messages'] } },
    moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'poor', key: poor }] }],
  });

interface Said {
  readonly result: string;
  readonly is_error: boolean;
}

interface Asking {
  readonly model?: string;
  readonly prompt?: string;
  readonly key?: string;
  readonly args?: readonly string[];
}

/** What a user sets, and nothing of this machine. */
const openSession = (program: string, gateway: Harness) => async (asking: Asking) => {
  const { model = 'acme/echo', prompt = 'Hello', key = gateway.key, args = [] } = asking;
  gateway.simulator.clear();
  const home = temporaryFolder();
  const env = {
    HOME: home,
    ANTHROPIC_BASE_URL: new URL(gateway.url).origin,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_API_KEY: undefined,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
  };
  const asked = ['-p', prompt, '--model', model, '--output-format', 'json', ...args];
  const { output } = await tryCommand(program, asked, { cwd: home, env, timeoutMs: 120_000 });
  await gateway.settled();
  const line = output.split('\n').find((one) => one.startsWith('{')) ?? '';
  assert.notEqual(line, '', `Claude Code gave no result: ${output.slice(0, 500)}`);
  return JSON.parse(line) as Said;
};

type Session = ReturnType<typeof openSession>;
type Block = { readonly type: string; readonly signature?: string };

const checks: Readonly<Record<string, (ask: Session, gateway: Harness) => Promise<void>>> = {
  'a text is streamed, billed, and recorded under its session': async (ask, gateway) => {
    const { result, is_error } = await ask({});
    assert.equal(is_error, false);
    assert.match(result, /^Hello! You wrote “Hello”/);
    const [record] = await gateway.records();
    assert.equal(record?.interfaceId, 'messages');
    assert.ok(record.sessionId !== undefined && record.costPicoUsd > 0n);
    assert.equal(gateway.simulator.calls[0]?.query, 'beta=true');
  },
  'a tool is called after a thinking block, and its result goes back with both': async (ask, gateway) => {
    const { result, is_error } = await ask({ prompt: 'Call the tool Read', args: ['--allowedTools', 'Read'] });
    assert.equal(is_error, false);
    assert.match(result, /^The tools answered/);
    const second = gateway.simulator.calls[1]?.body as { messages: { role: string; content: Block[] | string }[] };
    const blocks = second.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    assert.ok(blocks.some(({ type, signature }) => type === 'thinking' && signature !== ''));
    assert.ok(blocks.some(({ type }) => type === 'tool_use'));
    assert.ok(blocks.some(({ type }) => type === 'tool_result'));
  },
  'no credit is told at once, in the words of the gateway': async (ask, gateway) => {
    const { result, is_error } = await ask({ key: poor });
    assert.equal(is_error, true);
    assert.match(result, /The call may cost/);
    assert.equal((await gateway.records('poor')).length, 1);
    assert.equal(gateway.simulator.calls.length, 0);
  },
  'a provider that fails before its output is replaced': async (ask, gateway) => {
    const { result, is_error } = await ask({ model: 'acme/rescued' });
    assert.equal(is_error, false);
    assert.match(result, /simulated by the provider globex/);
    assert.deepEqual(
      gateway.simulator.calls.map(({ provider }) => provider),
      ['acme', 'globex'],
    );
  },
  'what cannot succeed is asked for once, and told': async (ask, gateway) => {
    const { result, is_error } = await ask({ model: 'acme/refused' });
    assert.equal(is_error, true);
    assert.match(result, /refused the gateway's own credentials/);
    assert.equal(gateway.simulator.calls.length, 1);
  },
  'a stream that breaks is told, and not asked for again without streaming': async (ask, gateway) => {
    const { result, is_error } = await ask({ model: 'acme/broken' });
    assert.equal(is_error, true);
    assert.match(result, /no_available_provider: The stream broke off/);
    assert.deepEqual(
      gateway.simulator.calls.map(({ body }) => (body as { stream?: boolean }).stream),
      [true],
    );
  },
};

async function run(): Promise<void> {
  useOneFolderForTheRun();
  const program = await claudeCode();
  const gateway = await startGateway();
  try {
    for (const [title, check] of Object.entries(checks)) {
      await check(openSession(program, gateway), gateway);
      process.stdout.write(`ok       Claude Code ${version}: ${title}\n`);
    }
  } finally {
    await gateway.stop();
  }
}

await run().catch((error: unknown) => {
  const isSkipped = error instanceof Skipped;
  if (!isSkipped) process.exitCode = 1;
  process.stdout.write(`${isSkipped ? 'skipped' : 'FAILS  '}  Claude Code ${version}: ${(error as Error).message}\n`);
});
