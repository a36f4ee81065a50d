// Values that a deployment reads from the account: a function beside the template reads them, and CloudFormation waits
// for its answer.
import { join } from 'node:path';
import { CustomResource, Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { StageSettings } from '../settings-schema.ts';
import type { Access } from './access.ts';
import { NodeFunction } from './node-function.ts';

export interface CustomResourceProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** Ids of the function and of the resource: part of the identity of both in a deployed stage. */
  readonly ids: readonly [reader: string, resource: string];
  /** A type that custom-resource/index.mjs knows. */
  readonly resourceType: string;
  readonly description: string;
  readonly access: Access;
  readonly properties?: Record<string, unknown>;
}

export function customResource(scope: Construct, props: CustomResourceProps): CustomResource {
  const { stage, settings, ids, resourceType, description, access, properties = {} } = props;
  const reader = new NodeFunction(scope, ids[0], {
    stage,
    settings,
    codeFolder: join(import.meta.dirname, 'custom-resource'),
    description: `Runs during deployments only: ${description}`,
    // Longer than it waits for its own permission.
    timeoutSeconds: 60,
    overrides: { memorySize: 128 },
  });
  reader.grant(access);
  const serviceToken = reader.function.functionArn;
  const serviceTimeout = Duration.minutes(2);
  const resource = new CustomResource(scope, ids[1], { serviceToken, resourceType, serviceTimeout, properties });
  // The role's policy is a resource of its own, and must exist first.
  resource.node.addDependency(reader);
  return resource;
}
