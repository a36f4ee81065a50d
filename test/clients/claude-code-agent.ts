// Claude Code at a gateway, as a user starts it without a terminal.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryCommand } from '../../infra/verify/verify-step.ts';
import { type Harness, type HarnessOptions, startHarness } from '../support/harness.ts';
import type { ScriptedProvider } from '../support/scripted-provider.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface ClaudeCodeAnswer {
  readonly result: string;
  readonly is_error: boolean;
}

export interface ClaudeCodeRun {
  readonly model?: string;
  /** The prompt, or a function that gets the folder in which the agent works. */
  readonly prompt?: string | ((home: string) => string);
  /** The folder in which it works. */
  readonly home?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly key?: string;
  /** ANTHROPIC_API_KEY of its shell. */
  readonly otherKey?: string;
  readonly args?: readonly string[];
  /** Set if it takes the gateway for Amazon Bedrock. */
  readonly isAtBedrock?: true;
}

/** Runs Claude Code with the settings that a user sets, and without any of this machine. */
export async function ask(program: string, gateway: Harness, asking: ClaudeCodeRun): Promise<ClaudeCodeAnswer> {
  const {
    model = 'acme/echo',
    prompt = 'Hello',
    key = gateway.key,
    otherKey,
    args = [],
    files = {},
    home = temporaryFolder(),
    isAtBedrock,
  } = asking;
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  const env = {
    HOME: home,
    ...(isAtBedrock ? bedrockOf(gateway, key) : anthropicOf(gateway, key)),
    ANTHROPIC_API_KEY: otherKey,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ANTHROPIC_CUSTOM_HEADERS: 'X-Gw-Tags: team=search,agent=claude-code',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
  };
  const promptText = typeof prompt === 'string' ? prompt : prompt(home);
  const cliArgs = ['-p', promptText, '--model', model, '--output-format', 'json', ...args];
  const { output } = await tryCommand(program, cliArgs, { cwd: home, env, timeoutMs: 120_000 });
  await gateway.settled();
  const line = output.split('\n').find((one) => one.startsWith('{')) ?? '';
  assert.notEqual(line, '', `Claude Code gave no result: ${output.slice(0, 500)}`);
  return JSON.parse(line) as ClaudeCodeAnswer;
}

const anthropicOf = ({ url }: Harness, key: string) => ({
  ANTHROPIC_BASE_URL: new URL(url).origin,
  ANTHROPIC_AUTH_TOKEN: key,
});

const bedrockOf = ({ url }: Harness, key: string) => ({
  CLAUDE_CODE_USE_BEDROCK: '1',
  ANTHROPIC_BEDROCK_BASE_URL: `${new URL(url).origin}/bedrock`,
  AWS_BEARER_TOKEN_BEDROCK: key,
  AWS_REGION: 'us-east-1',
});

/** Runs a check on a gateway with one scripted provider of Messages. */
export async function withProvider(
  provider: ScriptedProvider,
  options: Partial<HarnessOptions>,
  run: (gateway: Harness) => Promise<void>,
): Promise<void> {
  const gateway = await startHarness({
    models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
    providers: { acme: { apis: ['messages'], base_url: provider.url } },
    ...options,
  });
  try {
    await run(gateway);
  } finally {
    await gateway.stop();
    await provider.stop();
  }
}
