import { describe, expect, it } from '@jest/globals';
import { readDynamoPlace } from '../../../shared/foundation/environment/index.ts';

const region = { AWS_REGION: 'eu-west-1' };
const placeOf = (variables: Record<string, string>) => {
  const { region: name, endpoint } = readDynamoPlace(undefined, variables);
  return [name, endpoint?.href];
};

describe('where DynamoDB is', () => {
  it('is AWS in the region of the process, or another that is named', () => {
    expect(placeOf(region)).toEqual(['eu-west-1', undefined]);
    expect(readDynamoPlace('us-east-2', region).region).toBe('us-east-2');
  });

  it('is the server that a variable names for it, before one for every service', () => {
    const every = { ...region, AWS_ENDPOINT_URL: 'http://localhost:4566' };
    expect(placeOf(every)).toEqual(['eu-west-1', 'http://localhost:4566/']);
    expect(placeOf({ ...every, AWS_ENDPOINT_URL_DYNAMODB: 'http://localhost:8000' })).toEqual([
      'eu-west-1',
      'http://localhost:8000/',
    ]);
  });

  it.each([
    ['AWS_REGION', {}],
    ['AWS_REGION', { AWS_REGION: 'evil.example/' }],
    ['AWS_ENDPOINT_URL', { ...region, AWS_ENDPOINT_URL: 'file:///etc' }],
  ])('is an error that names %s and repeats no value', (name, variables) => {
    expect(() => readDynamoPlace(undefined, variables)).toThrow(name);
    expect(() => readDynamoPlace(undefined, variables)).not.toThrow(/evil|etc/);
  });
});
