// The AWS account that the shell's credentials belong to, and the CloudFormation stacks in it. For scripts of the
// operator.
import {
  CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

export interface AccountOptions {
  /** Undefined: what the shell's environment names. */
  readonly profile?: string | undefined;
  readonly region?: string | undefined;
}

export interface DeployedStack {
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export interface AwsAccount {
  readonly account: string;
  readonly region: string;
  /** Undefined where there is no stack of this name. */
  readStack(name: string): Promise<DeployedStack | undefined>;
}

/** Rejects with one line that says what the shell lacks: a region, credentials, or the right to use them. */
export async function openAwsAccount({ profile, region }: AccountOptions): Promise<AwsAccount> {
  const options = { ...(profile === undefined ? {} : { profile }), ...(region === undefined ? {} : { region }) };
  const [sts, cloudFormation] = [new STSClient(options), new CloudFormationClient(options)];
  try {
    const { Account: account = 'unknown' } = await sts.send(new GetCallerIdentityCommand({}));
    return {
      account,
      region: await cloudFormation.config.region(),
      readStack: (name) => readStack(cloudFormation, name),
    };
  } catch (error) {
    throw new Error(`AWS does not know this shell: ${oneLine(error)}`, { cause: error });
  }
}

async function readStack(client: CloudFormationClient, name: string): Promise<DeployedStack | undefined> {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    if (stack === undefined) return undefined;
    const outputs = (stack.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
    return { status: stack.StackStatus ?? 'unknown', outputs: Object.fromEntries(outputs) };
  } catch (error) {
    // CloudFormation has no error code of its own for a stack that does not exist.
    if (error instanceof CloudFormationServiceException && /does not exist/.test(error.message)) return undefined;
    throw new Error(`the stack ${name} could not be read: ${oneLine(error)}`, { cause: error });
  }
}

const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
