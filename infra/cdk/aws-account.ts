// Reads the AWS account that the shell's credentials belong to, and the CloudFormation stacks in it. The operator's
// scripts use it.
import {
  CloudFormationClient,
  CloudFormationServiceException,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

export interface AccountOptions {
  /** Profile to use; by default the profile of the shell's environment. */
  readonly profile?: string | undefined;
  readonly region?: string | undefined;
  /** Region if neither `region` nor the shell names one. */
  readonly defaultRegion?: string | null | undefined;
}

interface DeployedStack {
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export interface AwsAccount {
  readonly account: string;
  readonly region: string;
  /** `aws`, or the name of another partition such as `aws-cn`. */
  readonly partition: string;
  /** Options for clients of other services. */
  readonly clientOptions: { readonly region: string; readonly profile?: string };
  /** Reads a stack. Returns undefined if no stack has this name. */
  readStack(name: string): Promise<DeployedStack | undefined>;
  /** Reads the resources of an existing stack. */
  readResources(stackName: string): Promise<StackResource[]>;
}

export interface StackResource {
  readonly type: string;
  /** The name of a table or a bucket; empty while CloudFormation has not created it. */
  readonly physicalId: string;
}

/**
 * Opens the account. Rejects with one line if the shell lacks a region, credentials, or the right to use the
 * credentials.
 */
export async function openAwsAccount({ profile, region, defaultRegion }: AccountOptions): Promise<AwsAccount> {
  const shell = { ...(profile === undefined ? {} : { profile }), ...(region === undefined ? {} : { region }) };
  try {
    const clientOptions = { ...shell, region: await regionOf(shell, defaultRegion) };
    const { Account = 'unknown', Arn = '' } = await new STSClient(clientOptions).send(new GetCallerIdentityCommand({}));
    const cloudFormation = new CloudFormationClient(clientOptions);
    return {
      account: Account,
      region: clientOptions.region,
      partition: Arn.split(':')[1] ?? 'aws',
      clientOptions,
      readStack: (name) => readStack(cloudFormation, name),
      readResources: (name) => readResources(cloudFormation, name),
    };
  } catch (error) {
    throw new Error(`AWS does not know this shell: ${oneLine(error)}`, { cause: error });
  }
}

const regionOf = (shell: Pick<AccountOptions, 'region'>, defaultRegion: AccountOptions['defaultRegion']) =>
  new STSClient(shell as object).config.region().catch((error: unknown) => {
    if (defaultRegion == null) throw error;
    return defaultRegion;
  });

/** Reads pages of 100; CloudFormation's limit for a stack is 500 resources. */
async function readResources(client: CloudFormationClient, StackName: string): Promise<StackResource[]> {
  const resources: StackResource[] = [];
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
    for (const {
      ResourceType: type = '',
      PhysicalResourceId: physicalId = '',
      ResourceStatus,
    } of StackResourceSummaries) {
      if (ResourceStatus !== 'DELETE_COMPLETE') resources.push({ type, physicalId });
    }
  }
  return resources;
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
