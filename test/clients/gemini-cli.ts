// `npm run test:gemini-cli`: Gemini CLI without a terminal, from npm under .cache/, through a gateway to simulated
// providers. Prints one line if it is skipped because the package is not available. It sends nothing elsewhere.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryCommand } from '../../infra/verify/verify-step.ts';
import type { Harness } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { anyFormatChecks } from './any-format-agent.ts';
import { type AgentChecks, checkCodingAgent, checkFormats, poorKey } from './coding-agent.ts';

interface GeminiRun {
  readonly model?: string;
  readonly prompt?: string;
  /** The folder in which it works. A resumed session needs the folder of the session before. */
  readonly home?: string;
  readonly resumes?: boolean;
  readonly key?: string;
}

/** Settings that its first start with a terminal would ask for. */
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  general: { disableAutoUpdate: true },
};

/** Runs Gemini CLI with the settings that a user sets, and without any of this machine. */
async function ask(program: string, gateway: Harness, run: GeminiRun) {
  const { model = 'acme/echo', prompt = 'Hello', home = temporaryFolder(), resumes = false, key = gateway.key } = run;
  mkdirSync(join(home, '.gemini'), { recursive: true });
  writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  const env = {
    HOME: home,
    GEMINI_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: new URL(gateway.url).origin,
    GEMINI_CLI_CUSTOM_HEADERS: 'X-Gw-Tags: team=search',
  };
  const options = ['--skip-trust', '--approval-mode', 'yolo', '--output-format', 'json'];
  const args = [...options, ...(resumes ? ['--resume', 'latest'] : []), '-m', model, '-p', prompt];
  const { output } = await tryCommand(program, args, { cwd: home, env, timeoutMs: 120_000 });
  await gateway.settled();
  // The JSON object is at the end, after the program's own warnings.
  const [json] = /^\{\n[\s\S]*^\}/m.exec(output) ?? [];
  assert.ok(json !== undefined, `Gemini CLI gave no result: ${output.slice(0, 500)}`);
  const { response = '', error } = JSON.parse(json) as {
    readonly response?: string;
    readonly error?: { readonly message: string };
  };
  return { text: response, failure: error?.message };
}

const checks: AgentChecks = {
  'a text is streamed, billed, and recorded with its tags': async (program, gateway) => {
    const { text: answerText, failure } = await ask(program, gateway, {});
    assert.deepEqual([failure, /^Hello!/.test(answerText)], [undefined, true], answerText);
    const [record] = await gateway.records();
    assert.equal(record?.interfaceId, 'generate-content');
    assert.ok(record.costPicoUsd > 0n);
    assert.deepEqual(record.tags, { team: 'search' });
  },
  'no credit is told in the words of the gateway': async (program, gateway) => {
    const { failure } = await ask(program, gateway, { key: poorKey });
    assert.match(failure ?? '', /The call may cost/);
    assert.equal(gateway.simulator.calls.length, 0);
  },
  'models of every format of text answer, one of vectors says that it does not serve the interface': (
    program,
    gateway,
  ) => checkFormats('Gemini CLI', gateway, async (model) => (await ask(program, gateway, { model })).failure),
  'a provider that fails before its output is replaced': async (program, gateway) => {
    const { text: answerText } = await ask(program, gateway, { model: 'acme/rescued' });
    assert.match(answerText, /simulated by the provider globex/);
    const calledProviders = gateway.simulator.calls.map(({ provider }) => provider);
    assert.deepEqual(calledProviders, ['acme', 'globex']);
  },
  'a prompt that is too long is told once, in the words of Google': async (program, gateway) => {
    const { failure } = await ask(program, gateway, { model: 'acme/too-long' });
    assert.match(failure ?? '', /exceeds the maximum number of tokens/);
    assert.equal(gateway.simulator.calls.length, 1);
  },
};

const anyFormat = anyFormatChecks({
  act: async (program, gateway, { model, prompt, home, resumes = false }) =>
    ask(program, gateway, { model, prompt, home, resumes }),
  compacting: /state_snapshot/,
  read: (file) => ({ tool: 'read_file', arguments: { file_path: file } }),
  run: (command) => ({ tool: 'run_shell_command', arguments: { command } }),
  edit: (file, from, to) => ({
    tool: 'replace',
    arguments: { file_path: file, old_string: from, new_string: to, instruction: 'Change the word' },
  }),
  look: (picture) => ({ tool: 'read_file', arguments: { file_path: picture } }),
});

/**
 * It compacts by the share of a model's window that it knows, a million tokens for an unknown model, and not after an
 * error. Version 0.61.0 sends each result of a resumed session twice: a relay passes both on, and Google refuses them.
 */
const lacking = [/is compacted/, /^a model of generate-content thinks/];
const offered = Object.fromEntries(
  Object.entries(anyFormat).filter(([title]) => !lacking.some((pattern) => pattern.test(title))),
);

await checkCodingAgent(
  {
    name: 'Gemini CLI',
    packageName: '@google/gemini-cli',
    version: '0.61.0',
    program: 'gemini',
    speaks: 'generate-content',
  },
  { ...checks, ...offered },
);
