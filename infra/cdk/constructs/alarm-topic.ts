// The topic of a stage's alarms, to which people and their tools subscribe.
import { ArnFormat, Aws, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';

/** `email`: null for no subscription. */
export function alarmTopic(scope: Construct, stage: string, email: string | null): Topic {
  const topic = new Topic(scope, 'Topic', { displayName: `${brand} ${stage}`, enforceSSL: true });
  allowAlarms(topic);
  if (email !== null) topic.addSubscription(new EmailSubscription(email));
  return topic;
}

/** Allows the account's alarms to publish: a topic with a policy of its own has lost SNS's default one. */
function allowAlarms(topic: Topic): void {
  const alarms = Stack.of(topic).formatArn({
    service: 'cloudwatch',
    resource: 'alarm',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  topic.addToResourcePolicy(
    new PolicyStatement({
      sid: 'AlarmsOfThisAccount',
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID }, ArnLike: { 'aws:SourceArn': alarms } },
    }),
  );
}
