// What the types of the stage settings cannot say. Throws with the name of the setting, before anything is synthesized:
// CloudFront would refuse the same half an hour into a deployment.
import { Token } from 'aws-cdk-lib';
import type { StageSettings } from './stage-settings.ts';

/** Part of the name of a bucket, beside brand, account and region. */
const stageShape = /^[a-z0-9][a-z0-9-]{0,25}$/;
const certificateShape = /^arn:aws[a-z-]*:acm:us-east-1:\d{12}:certificate\/[\w-]+$/;
const webAclShape = /^arn:aws[a-z-]*:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/;
const regionShape = /^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/;
/** What Lambda takes for an endpoint of a Web Function. */
const webEnvironmentsMin = 2;

export function checkSettings(stage: string, settings: StageSettings): void {
  const refuse = (setting: string, reason: string): never => {
    throw new Error(`stage ${stage}: ${setting} ${reason}`);
  };
  const { edge, customDomain, webAclArn, bedrockRegions, webEnvironmentsMax } = settings;
  if (!stageShape.test(stage)) refuse('its name', 'must be 1 to 26 lower-case letters, digits or -');
  if (edge === 'none' && customDomain !== null) refuse('customDomain', 'needs edge: cloudfront');
  if (edge === 'none' && webAclArn !== null) refuse('webAclArn', 'needs edge: cloudfront');
  if (customDomain !== null && !certificateShape.test(customDomain.certificateArn)) {
    refuse('customDomain.certificateArn', 'must be the ARN of an ACM certificate in us-east-1');
  }
  if (webAclArn !== null && !webAclShape.test(webAclArn)) {
    refuse('webAclArn', 'must be the ARN of a web ACL of scope CLOUDFRONT in us-east-1');
  }
  if (!bedrockRegions.every((region) => Token.isUnresolved(region) || regionShape.test(region))) {
    refuse('bedrockRegions', 'must be names of regions, such as eu-west-1');
  }
  if (webEnvironmentsMax !== null && webEnvironmentsMax < webEnvironmentsMin) {
    refuse('webEnvironmentsMax', `must be null or at least ${webEnvironmentsMin}`);
  }
}
