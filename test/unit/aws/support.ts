// Adapters that talk to fake servers, put together as the gateway does it.
import { type AwsAdapters, createAwsAdapters } from '../../../shared/composition/index.ts';
import { readEnvironment } from '../../../shared/foundation/environment/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';
import { type Answering, type FakeAws, identity, startFakeAws } from '../../support/fake-aws.ts';

export interface FakeStage extends AwsAdapters {
  readonly fake: FakeAws;
  readonly lines: readonly string[];
}

/** `named` are the GW_ variables of the function; all three services are the one fake server. */
export async function fakeStage(
  answering: Answering,
  named: Readonly<Record<string, string>>,
  clock: Clock = systemClock,
): Promise<FakeStage> {
  const fake = await startFakeAws(answering);
  const lines: string[] = [];
  const environment = readEnvironment({
    GW_STAGE: 'dev',
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL_KMS: fake.url.href,
    AWS_ENDPOINT_URL_S3: fake.url.href,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: fake.url.href,
    ...named,
  });
  const adapters = createAwsAdapters({
    environment,
    clock,
    randomness: { ...systemRandomness, fraction: () => 0 },
    log: createLog({ clock, write: (line) => lines.push(line) }),
    identity: async () => identity,
  });
  return { ...adapters, fake, lines };
}
