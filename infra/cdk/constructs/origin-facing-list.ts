// The id of the list of CloudFront's own addresses, which is another one in every region and in no attribute of a resource. A
// custom resource reads it during the deployment.
import { join } from 'node:path';
import { CustomResource, Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { StageSettings } from '../settings-schema.ts';
import { wildcardId } from './access.ts';
import { NodeFunction } from './node-function.ts';

export interface OriginFacingListProps {
  readonly stage: string;
  readonly settings: StageSettings;
}

export class OriginFacingList extends Construct {
  readonly prefixListId: string;

  constructor(scope: Construct, id: string, { stage, settings }: OriginFacingListProps) {
    super(scope, id);
    const reading = new NodeFunction(this, 'Reading', {
      stage,
      settings,
      codeFolder: join(import.meta.dirname, 'origin-facing-list'),
      description: 'Runs during deployments only: finds the list of addresses by which CloudFront calls origins',
      // Longer than it waits for its own permission.
      timeoutSeconds: 60,
      overrides: { memorySize: 128 },
    });
    reading.grant({
      // It has no resources.
      statements: [{ actions: ['ec2:DescribeManagedPrefixLists'], resources: ['*'] }],
      acknowledgements: [{ id: wildcardId('*'), reason: 'The action that reads lists of addresses has no resources.' }],
    });
    const list = new CustomResource(this, 'List', {
      serviceToken: reading.function.functionArn,
      resourceType: 'Custom::OriginFacingList',
      serviceTimeout: Duration.minutes(2),
    });
    // The role's policy is a resource of its own, and must exist first.
    list.node.addDependency(reading);
    this.prefixListId = list.getAttString('PrefixListId');
  }
}
