import { expect, it } from '@jest/globals';
import { awsOrigin } from '../../../shared/storage/aws-calls/index.ts';

it.each([
  ['us-east-1', 'https://dynamodb.us-east-1.amazonaws.com/'],
  ['us-gov-west-1', 'https://dynamodb.us-gov-west-1.amazonaws.com/'],
  ['cn-north-1', 'https://dynamodb.cn-north-1.amazonaws.com.cn/'],
  ['eusc-de-east-1', 'https://dynamodb.eusc-de-east-1.amazonaws.eu/'],
  ['us-iso-east-1', 'https://dynamodb.us-iso-east-1.c2s.ic.gov/'],
  ['us-isob-east-1', 'https://dynamodb.us-isob-east-1.sc2s.sgov.gov/'],
])('a service in %s answers in the domain of its partition', (region, href) => {
  expect(awsOrigin('dynamodb', region).href).toBe(href);
});
