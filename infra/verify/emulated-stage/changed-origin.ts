// Changes of the origin secret, and of the distribution itself, while clients call. Every call is counted, at the former
// and at the new address.
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import { apiStackName } from '../../cdk/resource-names.ts';
import type { StageSettings } from '../../cdk/settings-schema.ts';
import { expectThat } from '../smoke/smoke-client.ts';
import type { OperatorCommands } from './operator-commands.ts';
import type { ProjectCopy } from './project-copy.ts';
import { models } from './stage-file.ts';

const pauseMs = 250;

interface CountedCalls {
  /** Counts calls at a base URL from now on, as the distribution makes them where it has a secret. */
  at(baseUrl: string, secret?: string): void;
  /** Resolves with a line about the calls, once all have answers. Rejects where one was refused. */
  end(): Promise<string>;
}

function countCalls({ send }: Pick<OperatorCommands, 'send'>, apiKey: string): CountedCalls {
  const refused: string[] = [];
  let [served, isOver] = [0, false];
  const loops: Promise<void>[] = [];
  const chat = JSON.stringify({ model: models.withCredential, messages: [{ role: 'user', content: 'Hello' }] });

  async function callOn(baseUrl: string, secret: string | undefined): Promise<void> {
    const originHeader = secret === undefined ? {} : { [headerNames.originSecret]: secret };
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...originHeader };
    while (!isOver) {
      const requests = [
        ['/models', {}],
        ['/chat/completions', { method: 'POST', body: chat }],
      ] as const;
      for (const [path, init] of requests) {
        const answer = await send(`${baseUrl}${path}`, { ...init, headers }).catch((error: Error) => error);
        if (answer instanceof Response && answer.status === 200) served += 1;
        else refused.push(`${path} at ${baseUrl}: ${answer instanceof Response ? answer.status : answer.message}`);
      }
      await sleep(systemClock, pauseMs);
    }
  }

  return {
    at: (baseUrl, secret) => void loops.push(callOn(baseUrl, secret)),
    async end() {
      isOver = true;
      await Promise.all(loops);
      expectThat(served > 0, 'no call was made');
      expectThat(
        refused.length === 0,
        `${refused.length} of ${served + refused.length} calls were refused: ${refused[0]}`,
      );
      return `${served} calls, 0 refused`;
    },
  };
}

/**
 * Another origin secret by two deployments, and back by two more. Both functions are called past the distribution too, with
 * the secret that is sent at first. The other stages of the settings stay as they are.
 */
export async function changeSecret(
  operator: OperatorCommands,
  project: ProjectCopy,
  { stage, settings, key }: { readonly stage: string; readonly settings: Partial<StageSettings>; readonly key: string },
): Promise<string> {
  const { outputs } = await operator.readStack(apiStackName(stage));
  const { BaseUrl: baseUrl = '', DirectUrl: directUrl = '' } = outputs;
  const versions = await operator.versions(stage);
  const calls = countCalls(operator, key);
  calls.at(baseUrl);
  calls.at(`${directUrl}v1`, await operator.readSecret(outputs.OriginSecretArn));
  project.writeSettings({ [stage]: { ...settings, originSecrets: [2] } });
  const first = await operator.deploy(stage);
  expectThat(
    first.includes('origin secret 1 is still accepted'),
    `the second deployment is not named: ${first.slice(-300)}`,
  );
  const changed = (await operator.readStack(apiStackName(stage))).outputs;
  calls.at(`${directUrl}v1`, await operator.readSecret(changed.OriginSecretArn));
  await sleep(systemClock, pauseMs);
  const line = await calls.end();
  await operator.deploy(stage);
  await operator.smoke(stage, key);
  const now = await operator.versions(stage);
  expectThat(now.join() === versions.join(), `the versions are ${now} after ${versions}`);
  return line;
}

/** Puts CloudFront in front of a stage that is called by its function's own URL, by two deployments. */
export async function putInFront(
  operator: OperatorCommands,
  project: ProjectCopy,
  { stage, settings, key }: { readonly stage: string; readonly settings: Partial<StageSettings>; readonly key: string },
): Promise<string> {
  const { BaseUrl: formerUrl = '' } = (await operator.readStack(apiStackName(stage))).outputs;
  const calls = countCalls(operator, key);
  calls.at(formerUrl);
  project.writeSettings({ [stage]: { ...settings, edge: 'cloudfront' } });
  await operator.deploy(stage);
  const { BaseUrl: baseUrl = '' } = (await operator.readStack(apiStackName(stage))).outputs;
  expectThat(baseUrl !== formerUrl, `the base URL is still ${baseUrl}`);
  calls.at(baseUrl);
  await operator.smoke(stage, key);
  const line = await calls.end();
  await operator.deploy(stage);
  await operator.smoke(stage, key);
  return line;
}
