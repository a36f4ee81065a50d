// Codex at a gateway, as a user starts it without a terminal, configured with the lines of the README.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryCommand } from '../../infra/verify/verify-step.ts';
import type { Harness } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { baseUrlOf } from './client-gateway.ts';

interface CodexEvent {
  readonly type: string;
  readonly item?: { readonly type: string; readonly text?: string };
  readonly error?: { readonly message: string };
}

export interface CodexRun {
  readonly model?: string;
  readonly prompt?: string;
  /** The folder in which it works. A resumed session needs the folder of the session before. */
  readonly home?: string;
  /** Whether it resumes the last session. */
  readonly resumes?: boolean;
  readonly key?: string;
  readonly args?: readonly string[];
  /** Lines of the README that its configuration lacks. */
  readonly without?: readonly string[];
}

function configurationOf(gateway: Harness, { model = 'acme/echo', without = [] }: CodexRun): string {
  const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  const [, lines = ''] = /```toml\n(model_provider.*?)```/s.exec(readme) ?? [];
  assert.notEqual(lines, '', 'the README shows no configuration for Codex');
  return lines
    .replace(/^model = .*/m, `model = "${model}"`)
    .replace(/^base_url = .*/m, `base_url = "${baseUrlOf(gateway, '/openai/v1')}"`)
    .split('\n')
    .filter((line) => !without.some((name) => line.startsWith(name)))
    .join('\n');
}

/** Runs Codex with the settings that a user sets, and without any of this machine. */
export async function ask(program: string, gateway: Harness, asking: CodexRun) {
  const { prompt = 'Hello', key = gateway.key, args = [], home = temporaryFolder(), resumes = false } = asking;
  const CODEX_HOME = join(home, '.codex');
  mkdirSync(CODEX_HOME, { recursive: true });
  writeFileSync(join(CODEX_HOME, 'config.toml'), configurationOf(gateway, asking));
  // Codex runs without its own sandbox, which not every machine can run; the model only calls the command `text`.
  const cliArgs = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...args];
  const command = resumes ? ['exec', 'resume', '--last'] : ['exec'];
  const env = { HOME: home, CODEX_HOME, GW_API_KEY: key, OPENAI_API_KEY: undefined };
  const { output } = await tryCommand(program, [...command, ...cliArgs, prompt], {
    cwd: home,
    env,
    timeoutMs: 120_000,
  });
  await gateway.settled();
  const events = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as CodexEvent);
  const answerText = events.flatMap(({ item }) => (item?.type === 'agent_message' ? [item.text] : [])).join('\n');
  const failure = events.find(({ type }) => type === 'turn.failed')?.error?.message;
  const isWhole = events.some(({ type }) => type === 'turn.completed');
  assert.ok(isWhole || failure !== undefined, `Codex gave no result: ${output.slice(0, 500)}`);
  return { text: answerText, failure };
}
