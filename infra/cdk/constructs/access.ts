// Grants the rights of the gateway in the account, with the environment variables that name the resources. Rights are
// plain values, because functions and tasks get the same rights. Resources are named, never imported. An imported value
// would stay the old value until the api stack itself changes, even after the data stack has created its key or its
// secret again.
import { Aws, Stack } from 'aws-cdk-lib';
import type { PolicyStatementProps } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import {
  contentPrefix,
  environmentNames,
  type NameTable,
  resultPrefix,
  storeKeyItem,
} from '../../../shared/foundation/constants/index.ts';
import { connectionKeyAlias, originSecretName, providerSecretName, spillBucketName } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import { stageRegion } from '../settings-values.ts';
import { rightsOf, type TableActions, tableActionsOf } from './table-actions.ts';

export interface Access {
  readonly statements: readonly PolicyStatementProps[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Reasons, for cdk-nag, why a wildcard is acceptable. */
  readonly acknowledgements?: readonly { readonly id: string; readonly reason: string }[];
}

/** Combines several parts. A later part takes precedence if two parts set the same variable. */
export const mergeAccess = (...parts: readonly Access[]): Access => ({
  statements: parts.flatMap(({ statements }) => statements),
  environment: Object.assign({}, ...parts.map(({ environment }) => environment)),
  acknowledgements: parts.flatMap(({ acknowledgements = [] }) => acknowledgements),
});

/** Returns an access with variables and without rights. */
export const variablesAccess = (environment: Access['environment'] = {}): Access => ({ statements: [], environment });

export const tableAccess = (scope: Construct, nameOf: NameTable, tables: TableActions): Access => ({
  statements: tableActionsOf(tables).map(({ table, actions }) => ({
    actions: actions.flatMap(rightsOf),
    resources: [
      Stack.of(scope).formatArn({
        service: 'dynamodb',
        resource: 'table',
        resourceName: nameOf(table),
      }),
    ],
  })),
});

/**
 * Grants access to objects by name, without the right to list them. Large results are written and read, bodies of calls
 * only written.
 */
export const spillBucketAccess = (stage: string): Access =>
  objectAccess(stage, { 's3:GetObject': [resultPrefix], 's3:PutObject': [resultPrefix, contentPrefix] });

/** Grants operators the right to read the bodies of calls, but no results. */
export const contentReadAccess = (stage: string): Access => objectAccess(stage, { 's3:GetObject': [contentPrefix] });

/** Grants access to objects. `prefixes` are the beginnings of their names, by action. */
function objectAccess(stage: string, prefixes: Readonly<Record<string, readonly string[]>>): Access {
  const name = spillBucketName(stage, Aws.ACCOUNT_ID, Aws.REGION);
  const known = spillBucketName(stage, '<AWS::AccountId>', '<AWS::Region>');
  return {
    statements: Object.entries(prefixes).map(([action, actionPrefixes]) => ({
      actions: [action],
      resources: actionPrefixes.map((prefix) => `arn:${Aws.PARTITION}:s3:::${name}/${prefix}*`),
      // Another account could create a bucket of this name after the stage's bucket was removed.
      conditions: { StringEquals: { 'aws:ResourceAccount': Aws.ACCOUNT_ID } },
    })),
    environment: { [environmentNames.spillBucket]: name },
    acknowledgements: [...new Set(Object.values(prefixes).flat())].map((prefix) => ({
      id: wildcardId(`arn:<AWS::Partition>:s3:::${known}/${prefix}*`),
      reason: 'Every object of this prefix is what this stage stored, under a name that it chose.',
    })),
  };
}

/**
 * Grants the right to decrypt for this stage, with the key of its alias. The command line encrypts the keys of
 * connections.
 */
export const connectionKeyAccess = (stage: string): Access => {
  const alias = connectionKeyAlias(stage);
  return {
    statements: [
      {
        actions: ['kms:Decrypt'],
        // The resource of a policy cannot be an alias.
        resources: [keysIn(Aws.PARTITION, Aws.REGION, Aws.ACCOUNT_ID)],
        conditions: {
          StringEquals: { 'kms:EncryptionContext:stage': stage },
          'ForAnyValue:StringEquals': { 'kms:ResourceAliases': alias },
        },
      },
      {
        // This right applies to the secret of the store alone, because the first process that needs the secret creates
        // it.
        actions: ['kms:GenerateDataKey'],
        resources: [keysIn(Aws.PARTITION, Aws.REGION, Aws.ACCOUNT_ID)],
        conditions: {
          StringEquals: { 'kms:EncryptionContext:stage': stage, 'kms:EncryptionContext:purpose': storeKeyItem.purpose },
          'ForAnyValue:StringEquals': { 'kms:ResourceAliases': alias },
        },
      },
    ],
    environment: { [environmentNames.byokKeyId]: alias },
    acknowledgements: [
      {
        id: wildcardId(keysIn('<AWS::Partition>', '<AWS::Region>', '<AWS::AccountId>')),
        reason: 'A condition names the alias of the one key.',
      },
    ],
  };
};

const keysIn = (partition: string, region: string, account: string) =>
  `arn:${partition}:kms:${region}:${account}:key/*`;

/** Returns the ARN of a secret, to whose name Secrets Manager adds six random characters. */
const secretArnOf = (name: string): string =>
  `arn:${Aws.PARTITION}:secretsmanager:${Aws.REGION}:${Aws.ACCOUNT_ID}:secret:${name}-??????`;

/**
 * Grants access to the provider credentials. The gateway reads them itself, because the configuration contains only
 * their places.
 */
export const providerSecretAccess = (stage: string): Access => {
  const name = providerSecretName(stage);
  return {
    statements: [{ actions: ['secretsmanager:GetSecretValue'], resources: [secretArnOf(name)] }],
    environment: { [environmentNames.providerSecret]: name },
  };
};

/**
 * Grants access to the origin secrets, by which a function recognizes requests through the distribution. Functions read
 * the secrets while they run, so that no version of the code contains a secret.
 */
export const originSecretAccess = (stage: string): Access => {
  const name = originSecretName(stage);
  return {
    statements: [{ actions: ['secretsmanager:GetSecretValue'], resources: [secretArnOf(name)] }],
    environment: { [environmentNames.originSecret]: name },
  };
};

/**
 * Grants access to Amazon Bedrock with the gateway's own role, so that a new stage answers without a stored credential:
 * bedrock-runtime, and bedrock-mantle with the interfaces of OpenAI and Anthropic. Bedrock itself decides which models
 * an account may use.
 */
export function bedrockAccess(regions: readonly string[]): Access {
  if (regions.length === 0) return { statements: [] };
  const tokens = { partition: Aws.PARTITION, ownRegion: Aws.REGION, account: Aws.ACCOUNT_ID };
  const placeholders = { partition: '<AWS::Partition>', ownRegion: '<AWS::Region>', account: '<AWS::AccountId>' };
  const places = placesOf(regions, Aws.REGION);
  const { models, profiles, projects, guardrails, modelsAnywhere } = bedrockArns(regions, tokens);
  const actions = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream'];
  const wildcards = bedrockArns(regions, placeholders);
  return {
    statements: [
      { actions, resources: [...models, ...profiles] },
      {
        // An inference profile spreads calls over regions, and AWS may add regions. In further regions models only
        // answer for a profile.
        actions,
        resources: [modelsAnywhere],
        conditions: { ArnLike: { 'bedrock:InferenceProfileArn': profiles } },
      },
      { actions: ['bedrock-mantle:CreateInference'], resources: projects },
      { actions: ['bedrock:ApplyGuardrail'], resources: guardrails },
      {
        // This action has no resources. The model that it calls is one of the models above.
        actions: ['bedrock:Rerank'],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:RequestedRegion': places } },
      },
    ],
    acknowledgements: [
      ...Object.values(wildcards)
        .flat()
        .map((resource) => ({
          id: wildcardId(resource),
          reason:
            'Models are opened to the account in Bedrock; the gateway file says which of them, and which guardrails, are called.',
        })),
      { id: wildcardId('*'), reason: 'The action that reranks has no resources; a condition names its regions.' },
    ],
  };
}

interface ArnParts {
  readonly partition: string;
  readonly ownRegion: string;
  readonly account: string;
}

const placesOf = (regions: readonly string[], ownRegion: string): readonly string[] =>
  regions.map((region) => (region === stageRegion ? ownRegion : region));

function bedrockArns(regions: readonly string[], { partition, ownRegion, account }: ArnParts) {
  const places = placesOf(regions, ownRegion);
  const profileKinds = ['inference-profile', 'application-inference-profile'];
  return {
    models: places.map((region) => `arn:${partition}:bedrock:${region}::foundation-model/*`),
    profiles: places.flatMap((region) =>
      profileKinds.map((kind) => `arn:${partition}:bedrock:${region}:${account}:${kind}/*`),
    ),
    projects: places.map((region) => `arn:${partition}:bedrock-mantle:${region}:${account}:project/*`),
    // A guardrail that works across regions does so through a profile.
    guardrails: places.flatMap((region) =>
      ['guardrail', 'guardrail-profile'].map((kind) => `arn:${partition}:bedrock:${region}:${account}:${kind}/*`),
    ),
    modelsAnywhere: `arn:${partition}:bedrock:*::foundation-model/*`,
  };
}

/**
 * Grants rights and sets variables for traces. The variables are the standard variables of OpenTelemetry, which a local
 * run reads too.
 */
export function telemetryAccess(stage: string, settings: StageSettings['telemetry']): Access {
  if (settings == null) return { statements: [] };
  const { sampleRatio, captureContent } = settings;
  const environment = {
    OTEL_RESOURCE_ATTRIBUTES: `deployment.environment.name=${stage}`,
    ...(sampleRatio === undefined ? {} : { OTEL_TRACES_SAMPLER_ARG: String(sampleRatio) }),
    ...(captureContent === true ? { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' } : {}),
  };
  return 'endpoint' in settings
    ? mergeAccess(variablesAccess(environment), collectorAccess(settings))
    : mergeAccess(variablesAccess(environment), cloudwatchTracesAccess());
}

type Collector = Extract<NonNullable<StageSettings['telemetry']>, { endpoint: string }>;

function collectorAccess({ endpoint, headersSecret }: Collector): Access {
  const path = '/v1/traces';
  const address = endpoint.endsWith(path) ? endpoint : `${endpoint.replace(/\/$/, '')}${path}`;
  const environment = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address };
  if (headersSecret === undefined) return variablesAccess(environment);
  const arn = headersSecret.startsWith('arn:') ? headersSecret : secretArnOf(headersSecret);
  return {
    statements: [{ actions: ['secretsmanager:GetSecretValue'], resources: [arn] }],
    environment: { ...environment, [environmentNames.telemetryHeadersSecret]: headersSecret },
  };
}

const cloudwatchTracesAccess = (): Access => ({
  // The service authorization reference names the first action for this endpoint, and the user guide has a policy with
  // only the second action. Both actions only write, and neither action has resources.
  statements: [{ actions: ['xray:PutSpans', 'xray:PutTraceSegments'], resources: ['*'] }],
  environment: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `https://xray.${Aws.REGION}.amazonaws.com/v1/traces` },
  acknowledgements: [{ id: wildcardId('*'), reason: 'The actions that send traces have no resources.' }],
});

/** Returns the id by which cdk-nag names a resource with a wildcard. */
export const wildcardId = (resource: string): string => `AwsSolutions-IAM5[Resource::${resource}]`;
