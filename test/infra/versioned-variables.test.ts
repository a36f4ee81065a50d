// Variables that a version of the code keeps as they were when it was made. The version's hash follows the text of the
// template, so a value that changes while its text stays the same reaches no version: the active version keeps the
// former value.
import { describe, expect, it } from '#jest';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import type { ThisDeployment } from '../../infra/cdk/this-deployment.ts';
import { resourcesOf, type SynthesizedStage, synthesizeStage } from './synthesized-stage.ts';
import { taskContainerOf } from './task-process.ts';

type Kind = 'place' | 'resource';

/**
 * Every variable that is no literal, and what happens when it changes. `place`: it consists of account, region and
 * partition, and a stack never moves. `resource`: it refers to a resource of the stack.
 */
const notLiteral: Readonly<Record<string, readonly [kind: Kind, whenItChanges: string]>> = {
  GW_SPILL_BUCKET: ['place', 'never'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['place', 'never: of CloudWatch in the own region; a collector is a literal'],
  AWS_REGION: ['place', 'never: of tasks; functions have it from Lambda'],
  GW_GATEWAY_URL: [
    'resource',
    'the console shows the former URL of the chat function until its next version; nobody is refused. A function URL changes where its function is made anew',
  ],
};

const tasks = { compute: 'container', consoleSharesTaskRole: true } as const;
const collector = { endpoint: 'https://otlp.example', headersSecret: 'gw/prod/otlp', sampleRatio: 0.5 };
const signIn = { issuer: 'https://id.example.com', client_id: 'gw', groups_claim: 'teams' };
const variants: readonly (readonly [Partial<StageSettings>, ThisDeployment?])[] = [
  [{}],
  [{ edge: 'none' }],
  [{ telemetry: { cloudwatch: true } }],
  [{ telemetry: collector, sign_in: signIn, cell: 'Z9', streamBudgetSeconds: 110, keyRequestsPerMinute: 5 }],
  [{ originSecrets: [2, 1] }],
  [{ originSecrets: [2] }, { alsoAccepts: '1' }],
  [{}, { alsoAccepts: 'direct' }],
  [{ tableSuffix: '-then' }, { isAtOnce: true }],
  [tasks],
  [{ ...tasks, telemetry: { cloudwatch: true } }],
  [{ ...tasks }, { alsoRuns: 'functions' }],
  [{}, { alsoRuns: 'container' }],
];

type Variables = Readonly<Record<string, unknown>>;

/** Returns the variables of every function with versions, and of the tasks. */
function variablesOf({ api }: SynthesizedStage): readonly Variables[] {
  const versioned = resourcesOf(api, 'AWS::Lambda::Version').map(({ Properties }) =>
    JSON.stringify(Properties.FunctionName),
  );
  const functions = resourcesOf(api, 'AWS::Lambda::Function')
    .filter(({ id }) => versioned.some((name) => name.includes(`"${id}"`)))
    .map(({ Properties }) => (Properties.Environment as { Variables: Variables }).Variables);
  if (resourcesOf(api, 'AWS::ECS::TaskDefinition').length === 0) return functions;
  const { Environment } = taskContainerOf(api.toJSON());
  return [...functions, Object.fromEntries(Environment.map(({ Name, Value }) => [Name, Value]))];
}

/** Returns the resources and parameters in a value. */
const referencesIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"(?:Ref|Fn::GetAtt)":(?:\["?)?"?([\w:]+)/g)].map(([, name = '']) => name);

describe('the variables of versions', () => {
  const valuesSeen = new Map<string, unknown[]>();
  for (const [overrides, deployment] of variants) {
    const all = variablesOf(synthesizeStage('prod', { console: true, ...overrides }, deployment));
    for (const [name, value] of all.flatMap((variables) => Object.entries(variables))) {
      if (typeof value !== 'string') valuesSeen.set(name, [...(valuesSeen.get(name) ?? []), value]);
    }
  }

  it('that are no literal are named here, each with what happens when it changes, and no more of them', () => {
    expect([...valuesSeen.keys()].toSorted()).toEqual(Object.keys(notLiteral).toSorted());
    for (const [, whenItChanges] of Object.values(notLiteral)) expect(whenItChanges).toMatch(/\w{5}/);
  });

  it.each(Object.entries(notLiteral))('%s refers to nothing else than is said of it', (name, [kind]) => {
    const references = new Set((valuesSeen.get(name) ?? []).flatMap(referencesIn));
    expect(references.size).toBeGreaterThan(0);
    const ofPlace = [...references].filter((reference) => /^AWS::(AccountId|Region|Partition)$/.test(reference));
    if (kind === 'place') expect(ofPlace).toEqual([...references]);
    else expect([...references].filter((reference) => !reference.startsWith('ChatCompletions'))).toEqual([]);
  });

  it('make another version if a literal changes', () => {
    const versionsOf = (overrides: Partial<StageSettings>) =>
      resourcesOf(synthesizeStage('prod', overrides).api, 'AWS::Lambda::Version').map(({ id }) => id);
    const [chat, models] = versionsOf({});
    const changedVersions = versionsOf({ keyRequestsPerMinute: 7 });
    expect(changedVersions).toHaveLength(2);
    expect(changedVersions.filter((id) => id === chat || id === models)).toEqual([]);
  });
});
