// Models of Amazon Bedrock, called with the gateway's own role: a fresh stage answers without any stored credential.
// Which models an account may use at all is granted in Bedrock, not here, so every model of a region is allowed.
import { Aws } from 'aws-cdk-lib';
import type { PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import { type Access, wildcardId } from './access.ts';

const actions = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream'];

/** None for no regions. */
export function bedrockAccess(regions: readonly string[]): Access {
  if (regions.length === 0) return { statements: [] };
  const models = regions.map((region) => modelsOf(Aws.PARTITION, region));
  const profiles = regions.flatMap((region) => profilesOf(Aws.PARTITION, region, Aws.ACCOUNT_ID));
  const statements: PolicyStatementProps[] = [
    { actions, resources: [...models, ...profiles] },
    {
      // A profile spreads calls over regions that Amazon may add to: there, models answer for these profiles only.
      actions,
      resources: [modelsOf(Aws.PARTITION, '*')],
      conditions: { ArnLike: { 'bedrock:InferenceProfileArn': profiles } },
    },
  ];
  const partition = '<AWS::Partition>';
  const own = regions.map((region) => (region === Aws.REGION ? '<AWS::Region>' : region));
  const named = own.flatMap((region) => [
    modelsOf(partition, region),
    ...profilesOf(partition, region, '<AWS::AccountId>'),
  ]);
  return {
    statements,
    acknowledgements: [...named, modelsOf(partition, '*')].map((resource) => ({
      id: wildcardId(resource),
      reason: 'Models are opened to the account in Bedrock; the gateway file says which of them are called.',
    })),
  };
}

function modelsOf(partition: string, region: string): string {
  return `arn:${partition}:bedrock:${region}::foundation-model/*`;
}

function profilesOf(partition: string, region: string, account: string): string[] {
  return ['inference-profile', 'application-inference-profile'].map(
    (kind) => `arn:${partition}:bedrock:${region}:${account}:${kind}/*`,
  );
}
