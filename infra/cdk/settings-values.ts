// Checks the values of single settings with patterns of names and ARNs, and has the messages of refusals.
import { z } from 'zod';

/** Name, in `bedrockRegions`, of the region that the stage is deployed to. */
export const stageRegion = 'stage-region';

/** Stage name, which is part of the name of a bucket, together with brand, account and region: 63 characters in all. */
export const stageShape = /^[a-z0-9][a-z0-9-]{0,25}$/;
export const shapes = {
  certificateArn: /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
  webAclArn: /^arn:aws[a-z-]*:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]+\/[\w-]+$/,
  keyArn: /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/,
  secretArn: /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/,
  secretName: /^[\w/+=.@-]{1,256}$/,
  /** An address without credentials, which would be in the template. */
  endpoint: /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
  account: /^\d{12}$/,
  ownRegion: /^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/,
  region: new RegExp(`^(${stageRegion}|[a-z]{2,4}(-[a-z]+)+-\\d{1,2})$`),
  qualifier: /^[a-zA-Z0-9]{1,10}$/,
  policyName: /^([\w+=,.@-]+\/)*[\w+=,.@-]{1,128}$/,
  domainName: /^(\*\.)?([a-z0-9-]+\.)+[a-z]{2,}$/,
  vpcId: /^vpc-[0-9a-f]{8,17}$/,
  subnetId: /^subnet-[0-9a-f]{8,17}$/,
  /** A reader that is not a range of every address, because readers of metrics need no key. */
  metricsReader: /^(sg-[0-9a-f]{8,17}|(\d{1,3}\.){3}\d{1,3}\/([89]|[12]\d|3[0-2]))$/,
  zone: /^[a-z]{2,4}(-[a-z]+)+-\d{1,2}(-[a-z]+-\d)?[a-z]$/,
  zoneId: /^[a-z]{2,5}\d+-az\d$/,
  tableSuffix: /^[A-Za-z0-9_-]{1,40}$/,
  cell: /^[0-9A-Za-z]{2}$/,
  email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
};
/** Periods that CloudWatch Logs accepts. */
export const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** Maximum number of zones of the stage's own network. */
export const zonesMax = 3;

export const must = (text: string) => ({ error: `must be ${text}` });
export const oneOf = <const Choice extends string>(...choices: Choice[]) => z.enum(choices, must(choices.join(' or ')));
export const switchedOn = () => z.boolean(must('true or false'));
export const text = (shape: RegExp, description: string) => z.string(must(description)).regex(shape, must(description));
export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.custom<number>(
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
    must(max === Number.MAX_SAFE_INTEGER ? `a whole number, at least ${min}` : `a whole number from ${min} to ${max}`),
  );

const sampleRatio = z
  .number(must('a number from 0 to 1'))
  .min(0, must('a number from 0 to 1'))
  .max(1, must('a number from 0 to 1'))
  .optional();

/** Bodies of calls that a workspace stores are sent with their spans. */
const captureContent = z.literal(true, must('true')).optional();

/** Settings of an identity provider, none of which is a secret. */
export const signIn = z.strictObject({
  /** The issuer exactly as the provider writes it in its tokens, including a slash at its end. */
  issuer: text(shapes.endpoint, 'an https URL without credentials and query'),
  client_id: text(/^[\x21-\x7e]{1,256}$/, 'the id of a client'),
  /** The claim of the token that lists groups. Default: groups. */
  groups_claim: text(/^[\x21-\x7e]{1,256}$/, 'the name of a claim').optional(),
});

/** The kind is recognized by the written fields, so that a mistake is reported for the intended kind. */
export const telemetry = z.discriminatedUnion(
  'cloudwatch',
  [
    z.strictObject({
      /** CloudWatch of the stage's own region, with the role of the functions. */
      cloudwatch: z.literal(true, must('true')),
      sampleRatio,
      captureContent,
    }),
    z.strictObject({
      cloudwatch: z.undefined().optional(),
      /** A collector that accepts OTLP over HTTP as JSON. `/v1/traces` is added if the URL does not end in it. */
      endpoint: text(shapes.endpoint, 'an https URL without credentials and query'),
      /**
       * A secret of the stage's account and region, by name or ARN: `name=value,name=value`, the values
       * percent-encoded.
       */
      headersSecret: z
        .string()
        .refine(
          (written) => shapes.secretName.test(written) || shapes.secretArn.test(written),
          must('the name or the ARN of a secret'),
        )
        .optional(),
      sampleRatio,
      captureContent,
    }),
  ],
  {
    error: (issue) =>
      issue.code === 'invalid_union'
        ? 'must be true, beside no endpoint, or be left out'
        : 'must be { cloudwatch: true } or { endpoint }',
  },
);
