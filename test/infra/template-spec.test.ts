// Every resource of every stage against CloudFormation's own resource types: no property that a type does not have, none
// missing that it requires. CloudFormation would say the same during a deployment.
import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from '#jest';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { synthesizeStage } from './synthesized-stage.ts';

interface Resource {
  readonly Type: string;
  readonly Properties?: unknown;
}

const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/3f1c0b1e';
const spec = loadAwsServiceSpecSync();
const findType = (type: string) => spec.lookup('resource', 'cloudFormationType', 'equals', type)[0];
type ResourceProperties = NonNullable<ReturnType<typeof findType>>['properties'];
type PropertyType = ResourceProperties[string]['type'];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** What CloudFormation replaces by a value of any kind. */
const isIntrinsic = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).length === 1 && /^(Ref|Fn::.+)$/.test(String(Object.keys(value)[0]));

function checkProperties(properties: ResourceProperties, value: unknown, path: string): string[] {
  if (isIntrinsic(value)) return [];
  if (!isObject(value)) return [`${path} must be an object`];
  const missing = Object.entries(properties)
    .filter(([name, { required }]) => required === true && value[name] === undefined)
    .map(([name]) => `${path}.${name} is missing`);
  const present = Object.entries(value).flatMap(([name, member]) => {
    const property = properties[name];
    return property === undefined
      ? [`${path}.${name} does not exist`]
      : checkType(property.type, member, `${path}.${name}`);
  });
  return [...missing, ...present];
}

function checkType(type: PropertyType, value: unknown, path: string): string[] {
  if (isIntrinsic(value)) return [];
  switch (type.type) {
    case 'ref':
      return checkProperties(spec.get('typeDefinition', type.reference.$ref).properties, value, path);
    case 'array':
      if (!Array.isArray(value)) return [`${path} must be a list`];
      return value.flatMap((element, index) => checkType(type.element, element, `${path}[${index}]`));
    case 'map':
      if (!isObject(value)) return [`${path} must be an object`];
      return Object.entries(value).flatMap(([name, element]) => checkType(type.element, element, `${path}.${name}`));
    case 'union': {
      const problems = type.types.map((one) => checkType(one, value, path));
      return problems.some(({ length }) => length === 0) ? [] : (problems[0] ?? []);
    }
    case 'boolean':
    case 'number':
      return typeof value === type.type ? [] : [`${path} must be a ${type.type}`];
    case 'integer':
      return Number.isInteger(value) ? [] : [`${path} must be a whole number`];
    case 'string':
      return typeof value === 'string' ? [] : [`${path} must be a text`];
    default:
      return [];
  }
}

function checkResource(id: string, { Type, Properties = {} }: Resource): string[] {
  if (Type.startsWith('Custom::')) return [];
  const known = findType(Type);
  return known === undefined
    ? [`${Type} does not exist`]
    : checkProperties(known.properties, Properties, `${id} (${Type})`);
}

const checkTemplate = (template: Template): string[] =>
  Object.entries(template.toJSON().Resources as Record<string, Resource>).flatMap(([id, one]) =>
    checkResource(id, one),
  );

describe('the resources', () => {
  it.each(Object.keys(stageSettings))('of %s have the properties that CloudFormation knows and requires', (stage) => {
    const { data, api } = synthesizeStage(stage);
    expect([...checkTemplate(data), ...checkTemplate(api)]).toEqual([]);
  });

  it('of a stage with every setting that adds resources are as complete', () => {
    const { data, api } = synthesizeStage('prod', {
      alarmEmail: 'operator@example.com',
      gatewayReservedConcurrency: 50,
      originSecrets: [2, 1],
      webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/gw/3f1c0b1e',
      customDomain: {
        domainNames: ['llm.example.com'],
        certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/3f1c0b1e',
      },
      adopt: { keyArn: 'arn:aws:kms:eu-west-1:123456789012:key/0d1f', secretArn: null },
    });
    expect([...checkTemplate(data), ...checkTemplate(api)]).toEqual([]);
  });

  it.each<[string, Partial<StageSettings>]>([
    ['behind a distribution', { console: true }],
    [
      'on the private way, in a given network',
      {
        edge: 'none',
        customDomain: { domainNames: ['llm.example.com'], certificateArn },
        vpc: {
          id: 'vpc-0123456789abcdef0',
          subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
          availabilityZones: ['eu-west-1a', 'eu-west-1b'],
        },
      },
    ],
  ])('of tasks %s are as complete', (_case, more) => {
    const { api } = synthesizeStage('prod', { compute: 'container', ...more });
    expect(checkTemplate(api)).toEqual([]);
  });
});
