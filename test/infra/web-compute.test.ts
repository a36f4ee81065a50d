import { describe, expect, it } from '#jest';
import { chatTableActions } from '../../infra/cdk/constructs/table-actions.ts';
import { callTimes, physicalTableName } from '../../shared/foundation/constants/index.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

const experimental = { compute: 'web', experimental: true } as const;
const web = synthesizeStage('prod', experimental);
const [revision, ...otherRevisions] = resourcesOf(web.api, 'AWS::Lambda::WebFunctionRevision');
const text = JSON.stringify(web.api.toJSON());

describe('the gateway as a Web Function', () => {
  it('is one, in place of both functions and their URLs', () => {
    web.api.resourceCountIs('AWS::Lambda::WebFunction', 1);
    expect(otherRevisions).toEqual([]);
    web.api.resourceCountIs('AWS::Lambda::Url', 0);
    const ids = resourcesOf(web.api, 'AWS::Lambda::Function').map(({ id }) => id);
    expect(ids.filter((id) => /^(ChatCompletions|Models)/.test(id))).toEqual([]);
  });

  it('is refused outside stages that say experimental', () => {
    expect(() => synthesizeStage('prod', { compute: 'web' })).toThrow("compute 'web' needs experimental: true");
  });

  it('has a name that carries the region, and its endpoint refers to it by that name, not by the ARN', () => {
    const name = { 'Fn::Join': ['', ['gw-prod-', { Ref: 'AWS::Region' }]] };
    const [target] = resourcesOf(web.api, 'AWS::Lambda::WebFunction');
    expect(target?.Properties.FunctionName).toEqual(name);
    const [endpoint] = resourcesOf(web.api, 'AWS::Lambda::WebFunctionEndpoint');
    expect(endpoint?.Properties.FunctionName).toEqual(name);
    expect(endpoint?.DependsOn).toContain(target?.id);
  });

  it('owns the log group that Lambda writes to and its companion, and may write to both', () => {
    const names = resourcesOf(web.api, 'AWS::Logs::LogGroup').filter(({ id }) => id.startsWith('Web'));
    expect(names.map(({ Properties }) => Properties.LogGroupName).toSorted()).toEqual([
      '/gw/prod/web',
      '/gw/prod/web.local',
    ]);
    for (const { Properties } of names) expect(Properties.RetentionInDays).toBe(web.settings.logRetentionDays);
    const granted = JSON.stringify(resourcesOf(web.api, 'AWS::IAM::Policy').filter(({ id }) => id.startsWith('Web')));
    for (const { id } of names) expect(granted).toContain(`{"Fn::GetAtt":["${id}","Arn"]}`);
  });

  it('keeps the time limits in their order and lets the gateway check who calls', () => {
    expect(text).toContain(`"TimeoutSeconds":${callTimes().functionTimeoutSeconds}`);
    const [endpoint] = resourcesOf(web.api, 'AWS::Lambda::WebFunctionEndpoint');
    expect(JSON.stringify(endpoint?.Properties)).toContain('"ApplicationManaged"');
  });

  it('follows the stream budget of its stage', () => {
    const { api } = synthesizeStage('prod', { compute: 'web', experimental: true, streamBudgetSeconds: 840 });
    const longer = JSON.stringify(api.toJSON());
    expect(longer).toContain('"TimeoutSeconds":850');
    expect(longer).toContain('"GW_STREAM_BUDGET_SECONDS":"840"');
    expect(longer).toMatch(/"GW_STAGE_CONCURRENCY":"\d+"/);
  });

  it('is told its stage and where secrets are by names alone, as its settings are copied while it is deployed', () => {
    const properties = JSON.stringify(revision?.Properties);
    expect(text).toContain('"GW_STAGE":"prod"');
    expect(text).toContain('"GW_BYOK_KEY_ID":"alias/gw-prod-connections"');
    expect(text).toContain('"GW_PROVIDER_SECRET":"gw/prod/providers"');
    expect(text).toContain('"GW_ORIGIN_SECRET_SHA256":{"Fn::GetAtt"');
    expect(properties).not.toContain('Fn::GetStackOutput');
    expect(text).not.toMatch(/sk-gw-/);
  });

  it('may do what the chat function may, and nothing else', () => {
    const policies = resourcesOf(web.api, 'AWS::IAM::Policy').filter(({ id }) => id.startsWith('Web'));
    const granted = JSON.stringify(policies);
    for (const table of Object.keys(chatTableActions)) {
      expect(granted).toContain(`:table/${physicalTableName('prod', table as keyof typeof chatTableActions)}"`);
    }
    expect(granted).not.toMatch(/"dynamodb:(DeleteItem|Scan|Query)|"dynamodb:\*|"\*"/);
    const [role] = resourcesOf(web.api, 'AWS::IAM::Role').filter(({ id }) => id.startsWith('Web'));
    expect(role?.Properties).not.toHaveProperty('ManagedPolicyArns');
  });

  it('serves every path behind the distribution, which shows it the origin secret and waits as long as for a function', () => {
    const [distribution] = resourcesOf(web.api, 'AWS::CloudFront::Distribution');
    const config = distribution?.Properties.DistributionConfig as {
      CacheBehaviors?: unknown;
      Origins: ReadonlyArray<{
        OriginCustomHeaders: ReadonlyArray<{ HeaderName: string }>;
        CustomOriginConfig: object;
      }>;
    };
    expect(config.CacheBehaviors).toBeUndefined();
    expect(config.Origins).toHaveLength(1);
    expect(config.Origins[0]?.OriginCustomHeaders.map(({ HeaderName }) => HeaderName)).toEqual(['x-gw-origin-secret']);
    expect(config.Origins[0]?.CustomOriginConfig).toMatchObject({
      OriginReadTimeout: 60,
      OriginProtocolPolicy: 'https-only',
    });
  });

  it('is the base URL itself without a distribution, and has a fuse where the stage says so', () => {
    const bare = synthesizeStage('dev', { ...experimental, edge: 'none', webEnvironmentsMax: 3 });
    expect(JSON.stringify(bare.api.findOutputs('BaseUrl'))).toMatch(/https:\/\/.*DomainName.*\/v1/);
    expect(JSON.stringify(bare.api.toJSON())).toMatch(/"MaxEnvironments":3|"MaxExecutionEnvironments":3/);
    expect(bare.findings).toEqual([]);
  });

  it('leaves no security finding without a reason', () => {
    expect(web.findings).toEqual([]);
  });
});
