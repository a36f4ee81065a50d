// What an operator types, against the emulated account, and what can be seen of it from outside.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { apiStackName } from '../../cdk/resource-names.ts';
import type { Simulator } from '../../local/simulator/index.ts';
import { runSmoke } from '../smoke.ts';
import { runCommand, tryCommand } from '../verify-step.ts';
import { accountVariables, credentials, region } from './emulated-account.ts';
import { fetchThrough } from './fetch-through.ts';
import type { ProjectCopy } from './project-copy.ts';
import {
  byokKey,
  byokVariable,
  credentialName,
  gatewayFile,
  models,
  providerCredential,
  storedFunction,
} from './stage-file.ts';

export function check(isTrue: boolean, found: string): asserts isTrue {
  if (!isTrue) throw new Error(found);
}

export type Operator = ReturnType<typeof createOperator>;

interface Access {
  readonly emulatorUrl: string;
  readonly project: ProjectCopy;
  readonly simulator: Simulator;
}

export function createOperator({ emulatorUrl, project, simulator }: Access) {
  const cwd = project.folder;
  const clientSettings = { endpoint: emulatorUrl, region, credentials };
  const env = { ...accountVariables(emulatorUrl, cwd), [byokVariable]: byokKey };
  const deployArgs = (stage: string, flags: readonly string[]) =>
    ['run', '--silent', 'deploy', '--', '--stage', stage, '--yes', ...flags] as const;
  const send = fetchThrough(emulatorUrl);
  const describe = async (path: string) => (await fetch(`${emulatorUrl}/${path}`)).json() as Promise<Facts>;

  async function readStack(name: string): Promise<{ stack: Stack | undefined; outputs: Record<string, string> }> {
    const { Stacks: [stack] = [] } = await new CloudFormationClient(clientSettings).send(
      new DescribeStacksCommand({ StackName: name }),
    );
    const outputs = (stack?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
    return { stack, outputs: Object.fromEntries(outputs) };
  }

  async function callWithByok(baseUrl: string, apiKey: string): Promise<void> {
    const body = JSON.stringify({ model: models.withByok, messages: [{ role: 'user', content: 'Hello' }] });
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const answer = await send(`${baseUrl}/chat/completions`, { method: 'POST', headers, body });
    check(answer.status === 200, `a stored connection: ${answer.status} ${(await answer.text()).slice(0, 300)}`);
  }

  const lastAuthorization = () => simulator.calls.at(-1)?.headers.authorization;

  return {
    clientSettings,
    send,
    readStack,
    bootstrap: (environment: string) => runCommand('npx', ['cdk', 'bootstrap', environment], { cwd, env }),
    deploy: (stage: string, ...flags: string[]) => runCommand('npm', deployArgs(stage, flags), { cwd, env }),
    tryDeploy: (stage: string, more: Readonly<Record<string, string>> = {}) =>
      tryCommand('npm', deployArgs(stage, []), { cwd, env: { ...env, ...more } }),
    tryDestroy: (stage: string) => tryCommand('npx', ['cdk', 'destroy', `${stage}/*`, '--force'], { cwd, env }),
    async destroy(stage: string): Promise<void> {
      const { code, output } = await this.tryDestroy(stage);
      check(code === 0, `destroy failed: ${output.slice(-500)}`);
    },
    tables: async (stage: string): Promise<string[]> => {
      const { TableNames: names = [] } = await new DynamoDBClient(clientSettings).send(new ListTablesCommand({}));
      return names.filter((name) => name.startsWith(`gw-${stage}-`));
    },
    /** Stores credential and gateway file with the command line. Gives the API key that it prints. */
    async configure(stage: string): Promise<string> {
      const gw = (args: readonly string[], input = '') =>
        runCommand('npm', ['run', '--silent', 'gw', '--', ...args, '--stage', stage], { cwd, env, input });
      const file = join(cwd, 'gateway.yaml');
      writeFileSync(file, gatewayFile(simulator));
      await gw(['credentials', 'set', credentialName, '--yes'], providerCredential);
      const [key] = /sk-gw-[\w-]+/.exec(await gw(['apply', '-f', file, '--yes'])) ?? [];
      check(key !== undefined, 'applying the gateway file printed no key');
      return key;
    },
    /** The calls of `npm run smoke` through the base URL; credentials are looked at where they arrive. */
    async smoke(stage: string, apiKey: string): Promise<void> {
      const { BaseUrl: baseUrl = '' } = (await readStack(apiStackName(stage))).outputs;
      const lines: string[] = [];
      // The emulator holds streams back.
      const options = { baseUrl, apiKey, model: models.withCredential, storedFunction, send, streamsArrive: false };
      const passed = await runSmoke(options, (line) => void lines.push(line));
      check(passed, `smoke: ${lines.at(-1)}`);
      check(lastAuthorization() === `Bearer ${providerCredential}`, 'the credential did not reach the provider');
      await callWithByok(baseUrl, apiKey);
      check(lastAuthorization() === `Bearer ${byokKey}`, 'the key of the connection did not reach the provider');
    },
    /** Lambda's own view of the chat function. */
    async readFunction(stage: string): Promise<{ memoryMb: number; url: string }> {
      const { ChatFunctionName: name } = (await readStack(apiStackName(stage))).outputs;
      const { MemorySize } = await describe(`2015-03-31/functions/${name}/configuration`);
      const { FunctionUrl } = await describe(`2021-10-31/functions/${name}/url`);
      return { memoryMb: Number(MemorySize), url: String(FunctionUrl) };
    },
  };
}

type Facts = Readonly<Record<string, unknown>>;
