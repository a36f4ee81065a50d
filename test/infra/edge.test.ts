import { describe, expect, it } from '#jest';
import { callTimes, keepAliveCommentMs, originReadTimeoutSeconds } from '../../shared/foundation/constants/index.ts';
import { interfaceList } from '../../shared/protocol/interface-list/index.ts';
import { resourcesOf, synthesizeStage } from './synthesized-stage.ts';

interface Behaviour {
  readonly TargetOriginId: string;
  readonly PathPattern?: string;
}

interface Origin {
  readonly Id: string;
  readonly DomainName: unknown;
  readonly CustomOriginConfig: { readonly OriginReadTimeout: number };
  readonly ResponseCompletionTimeout: number;
  readonly OriginCustomHeaders: ReadonlyArray<{ readonly HeaderName: string; readonly HeaderValue: unknown }>;
}

interface DistributionConfig {
  readonly DefaultCacheBehavior: Behaviour;
  readonly CacheBehaviors: readonly Behaviour[];
  readonly Origins: readonly Origin[];
  readonly CustomErrorResponses: ReadonlyArray<{ readonly ErrorCode: number; readonly ErrorCachingMinTTL: number }>;
}

// Managed policies have the same ids in every account.
const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const allViewerExceptHostHeader = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

const { api } = synthesizeStage('prod');
const [distribution, ...otherDistributions] = resourcesOf(api, 'AWS::CloudFront::Distribution');
const config = distribution?.Properties.DistributionConfig as unknown as DistributionConfig;
const behaviours = [config.DefaultCacheBehavior, ...config.CacheBehaviors];

describe('the distribution', () => {
  it("has the function's own URL and the ARN of the origin secret beside it in the outputs, for the smoke test alone", () => {
    const names = ['DirectUrl', 'OriginSecretArn'];
    const outputsOf = (template: typeof api) => names.flatMap((name) => Object.keys(template.findOutputs(name)));
    expect(outputsOf(api)).toEqual(names);
    expect(JSON.stringify(api.findOutputs('DirectUrl'))).toContain('"FunctionUrl"');
    expect(JSON.stringify(api.findOutputs('OriginSecretArn'))).toMatch(/\{"Ref":"OriginSecret\w*Secret1\w+"\}/);
    expect(outputsOf(synthesizeStage('dev', { edge: 'none' }).api)).toEqual([]);
  });

  it('is one, and its base URL is what clients are given', () => {
    expect(otherDistributions).toEqual([]);
    const outputOf = (name: string) => JSON.stringify((api.findOutputs(name)[name] as { Value: unknown }).Value);
    expect(outputOf('BaseUrl')).toMatch(/^\{"Fn::Join":\["",\["https:\/\/",.*"DomainName".*,"\/v1"\]\]\}$/);
    expect(outputOf('OpenAiBaseUrl')).toMatch(
      /^\{"Fn::Join":\["",\["https:\/\/",.*"DomainName".*,"\/openai\/v1"\]\]\}$/,
    );
  });

  it('sends the console and the management interface to the operator function, if the stage has one', () => {
    const withConsole = synthesizeStage('prod', { console: true });
    const [distribution] = resourcesOf(withConsole.api, 'AWS::CloudFront::Distribution');
    if (distribution === undefined) throw new Error('the stage must have a distribution');
    const { CacheBehaviors, Origins } = distribution.Properties.DistributionConfig as unknown as DistributionConfig;
    const operatorPaths = CacheBehaviors.filter(({ PathPattern = '' }) => /console|manage/.test(PathPattern));
    expect(operatorPaths.map(({ PathPattern }) => PathPattern)).toEqual(['/v1/manage/*', '/console*']);
    const [manage, page] = operatorPaths;
    expect(manage).toMatchObject({ CachePolicyId: cachingDisabled, AllowedMethods: expect.arrayContaining(['PATCH']) });
    // A person who loads the page over and over, with any query or header, does not use up executions that operators
    // need.
    const [policy, ...others] = resourcesOf(withConsole.api, 'AWS::CloudFront::CachePolicy');
    expect(page).toMatchObject({ CachePolicyId: { Ref: policy?.id }, AllowedMethods: ['GET', 'HEAD'] });
    expect(page).not.toHaveProperty('OriginRequestPolicyId');
    expect(others).toEqual([]);
    expect(policy?.Properties.CachePolicyConfig).toMatchObject({
      MinTTL: 10,
      DefaultTTL: 10,
      ParametersInCacheKeyAndForwardedToOrigin: {
        CookiesConfig: { CookieBehavior: 'none' },
        HeadersConfig: { HeaderBehavior: 'none' },
        QueryStringsConfig: { QueryStringBehavior: 'none' },
      },
    });
    for (const behaviour of operatorPaths) {
      expect(behaviour).toMatchObject({ ViewerProtocolPolicy: 'https-only', Compress: false });
      const origin = Origins.find(({ Id }) => Id === behaviour.TargetOriginId);
      expect(JSON.stringify(origin?.DomainName)).toContain('Operator');
      expect(origin?.OriginCustomHeaders.map(({ HeaderName }) => HeaderName)).toEqual(['x-gw-origin-secret']);
    }
    // The distribution waits until the function accepts its secret.
    expect(JSON.stringify((distribution as unknown as { DependsOn: unknown }).DependsOn)).toMatch(/Operator/);
    expect(JSON.stringify(withConsole.api.findOutputs('ConsoleUrl'))).toContain('/console');
    expect(withConsole.findings).toEqual([]);
  });

  it('is not needed by the console: without it the function has its own URL; and a stage that does not ask has neither', () => {
    const { api: direct } = synthesizeStage('dev', { edge: 'none', console: true });
    expect(JSON.stringify(direct.findOutputs('ConsoleUrl'))).toMatch(
      /OperatorLiveFunctionUrl\w+","FunctionUrl"\]\},"console"/,
    );
    expect(resourcesOf(direct, 'AWS::Lambda::Url')).toHaveLength(3);
    // The console's page gets the URL for clients; behind a distribution it is the page's own URL.
    const urlVariable = /"GW_GATEWAY_URL":\{"Fn::GetAtt":\["Chat\w*Url\w*","FunctionUrl"\]\}/g;
    expect(JSON.stringify(direct.toJSON()).match(urlVariable)).toHaveLength(1);
    const { api: behindEdge } = synthesizeStage('dev', { console: true });
    expect(JSON.stringify(behindEdge.toJSON())).not.toContain('GW_GATEWAY_URL');
    for (const { api: without } of [synthesizeStage('prod'), synthesizeStage('dev', { edge: 'none' })]) {
      expect(Object.keys(without.findOutputs('ConsoleUrl'))).toEqual([]);
      expect(JSON.stringify(without.toJSON())).not.toMatch(/"Operator|ConsoleUrl|\/manage\//);
    }
  });

  it('sends /v1/models to the models function and every other path to the chat function', () => {
    expect(config.CacheBehaviors.map(({ PathPattern }) => PathPattern)).toEqual([
      '/v1/models/*:*',
      '/v1/models',
      '/v1/models/*',
      '/openai/v1/models',
      '/openai/v1/models/*',
    ]);
    const targets = behaviours.map(({ TargetOriginId }) => config.Origins.find(({ Id }) => Id === TargetOriginId));
    expect(JSON.stringify(targets[0]?.DomainName)).toContain('"ChatCompletions');
    // The first matching path counts: here for a call whose path names the model, and for a model with a colon in its
    // id.
    expect(JSON.stringify(targets[1]?.DomainName)).toContain('"ChatCompletions');
    for (const target of targets.slice(2)) expect(JSON.stringify(target?.DomainName)).toContain('"Models');
  });

  it('hands calls of a model that the path names to the chat function, colons and all, at the bases of other vendors too', () => {
    // In these patterns one asterisk also matches slashes, and the first matching pattern counts.
    const matches = (pattern: string, path: string) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(path);
    const originOf = (path: string) => {
      const [target] = [
        ...config.CacheBehaviors.filter(({ PathPattern }) => matches(String(PathPattern), path)),
        config.DefaultCacheBehavior,
      ];
      return JSON.stringify(config.Origins.find(({ Id }) => Id === target?.TargetOriginId)?.DomainName);
    };
    const routes = Object.values(interfaceList).flatMap(({ routes: listedRoutes }) => listedRoutes);
    const models = ['gemini-3-pro', 'openai/gpt-5', 'anthropic.claude-v1:0', 'anthropic.claude-v1%3A0'];
    for (const { base, path } of routes) {
      for (const model of models) {
        const calledPath = (base === 'all' ? '/openai/v1' : base) + path.replace('**', model);
        expect([calledPath, originOf(calledPath)]).toEqual([calledPath, expect.stringContaining('"ChatCompletions')]);
      }
    }
    for (const path of ['/v1beta/models', '/v1beta/models/gemini-3-pro', '/bedrock/inference-profiles']) {
      expect(originOf(path)).toContain('"ChatCompletions');
    }
    for (const path of ['/v1/models', '/v1/models/openai/gpt-5', '/openai/v1/models']) {
      expect(originOf(path)).toContain('"Models');
    }
    // No function in front of these paths can rewrite them.
    const inFront = behaviours.filter((behaviour) => 'FunctionAssociations' in behaviour);
    expect(inFront).toEqual([]);
  });

  it('caches nothing, compresses nothing, takes every method over HTTPS only and keeps the viewer’s Host to itself', () => {
    for (const behaviour of behaviours) {
      expect(behaviour).toMatchObject({
        CachePolicyId: cachingDisabled,
        OriginRequestPolicyId: allViewerExceptHostHeader,
        Compress: false,
        ViewerProtocolPolicy: 'https-only',
        AllowedMethods: expect.arrayContaining(['POST', 'GET', 'OPTIONS', 'DELETE', 'PUT', 'PATCH', 'HEAD']),
      });
    }
  });

  it('forgets every error at once, so that one workspace never gets another’s', () => {
    const cacheable = [400, 403, 404, 405, 414, 500, 501, 502, 503, 504];
    expect(config.CustomErrorResponses.map(({ ErrorCode }) => ErrorCode)).toEqual(cacheable);
    for (const response of config.CustomErrorResponses) {
      expect(Object.keys(response).toSorted()).toEqual(['ErrorCachingMinTTL', 'ErrorCode']);
      expect(response.ErrorCachingMinTTL).toBe(0);
    }
  });

  it.each([55, 110, 300, 840])(
    'lets a stream of a budget of %i s end, and the silence of a JSON answer, which comments break in a stream',
    (streamBudgetSeconds) => {
      const stage = synthesizeStage('prod', { streamBudgetSeconds });
      const [distribution] = resourcesOf(stage.api, 'AWS::CloudFront::Distribution');
      const ownConfig = distribution?.Properties.DistributionConfig as unknown as DistributionConfig;
      expect(ownConfig.Origins).toHaveLength(2);
      for (const { CustomOriginConfig, ResponseCompletionTimeout } of ownConfig.Origins) {
        // A whole image may take as long as a stream, and CloudFront allows two minutes of silence.
        expect(CustomOriginConfig.OriginReadTimeout).toBe(Math.min(streamBudgetSeconds, 110) + 5);
        expect(ResponseCompletionTimeout).toBe(streamBudgetSeconds + 20);
        expect(ResponseCompletionTimeout).toBeGreaterThan(callTimes(streamBudgetSeconds).functionTimeoutSeconds);
      }
      const variables = resourcesOf(stage.api, 'AWS::Lambda::Function').map(
        ({ Properties }) => (Properties.Environment as { Variables?: Record<string, unknown> } | undefined)?.Variables,
      );
      expect(variables.find((names) => names?.GW_STAGE_CONCURRENCY !== undefined)?.GW_SLOW_ANSWER_SECONDS).toBe(
        streamBudgetSeconds > 110 ? '110' : undefined,
      );
      expect(keepAliveCommentMs).toBeLessThan((originReadTimeoutSeconds * 1_000) / 2);
    },
  );

  it('shows both functions the origin secret, which the template only refers to', () => {
    expect(config.Origins).toHaveLength(2);
    for (const { OriginCustomHeaders } of config.Origins) {
      expect(OriginCustomHeaders.map(({ HeaderName }) => HeaderName)).toEqual(['x-gw-origin-secret']);
      expect(JSON.stringify(OriginCustomHeaders[0]?.HeaderValue)).toMatch(
        /^\{"Fn::Join":\["",\["\{\{resolve:secretsmanager:",\{"Ref":"OriginSecretSecret1[0-9A-F]{8}"\},":SecretString:::\}\}"\]\]\}$/,
      );
    }
  });

  it('changes only after both functions, so that it never sends a secret that they do not accept yet', () => {
    const aliases = resourcesOf(api, 'AWS::Lambda::Alias').filter(({ id }) => /^(ChatCompletions|Models)/.test(id));
    expect(aliases).toHaveLength(2);
    // An alias has changed when all calls go to the new version.
    expect(distribution?.DependsOn).toEqual(expect.arrayContaining(aliases.map(({ id }) => id)));
  });

  it('sends the first of two origin secrets during a rotation, once the functions accept both', () => {
    const rotating = synthesizeStage('prod', { originSecrets: [2, 1] }).api;
    rotating.resourceCountIs('AWS::SecretsManager::Secret', 3);
    const accepted = resourcesOf(rotating, 'AWS::SecretsManager::Secret').find(({ id }) => id.includes('Accepted'));
    const references = [...JSON.stringify(accepted?.Properties.SecretString).matchAll(/OriginSecretSecret(\d)/g)];
    expect(references.map(([, number]) => number)).toEqual(['2', '1']);
    const [rotatedDistribution] = resourcesOf(rotating, 'AWS::CloudFront::Distribution');
    expect(rotatedDistribution?.DependsOn).toContain(accepted?.id);
    for (const alias of resourcesOf(rotating, 'AWS::Lambda::Alias')) expect(alias.DependsOn).toContain(accepted?.id);
    expect(JSON.stringify(rotatedDistribution?.Properties)).toContain('OriginSecretSecret2');
    expect(JSON.stringify(rotatedDistribution?.Properties)).not.toContain('OriginSecretSecret1');
    expect(rotating.toJSON().Resources).toHaveProperty(String(resourcesOf(api, 'AWS::SecretsManager::Secret')[0]?.id));
  });
});

describe('a distribution with names and a web ACL of the operator’s', () => {
  const customDomain = {
    domainNames: ['llm.example.com', 'llm.example.org'],
    certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/3f1c0b1e-0000-4000-8000-000000000000',
  } as const;
  const webAclArn = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/gw/3f1c0b1e-0000-4000-8000-000000000001';
  const stage = synthesizeStage('dev', { customDomain, webAclArn });
  const [ownDistribution] = resourcesOf(stage.api, 'AWS::CloudFront::Distribution');

  it('answers under them, with a certificate and TLS 1.2 at least, and is guarded by the ACL: nothing is left to excuse', () => {
    expect(ownDistribution?.Properties.DistributionConfig).toMatchObject({
      Aliases: customDomain.domainNames,
      ViewerCertificate: { AcmCertificateArn: customDomain.certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
      WebACLId: webAclArn,
    });
    stage.api.hasOutput('BaseUrl', { Value: 'https://llm.example.com/v1' });
    stage.api.hasOutput('OpenAiBaseUrl', { Value: 'https://llm.example.com/openai/v1' });
    expect(Object.keys(stage.api.findOutputs('DistributionDomainName'))).toHaveLength(1);
    expect(stage.findings).toEqual([]);
    expect(JSON.stringify(ownDistribution)).not.toMatch(/AwsSolutions-CFR[24]/);
  });
});

describe('a stage where people sign in', () => {
  const sign_in = { issuer: 'https://idp.example/realms/gw', client_id: 'console', groups_claim: 'roles' };

  it('tells the function of the console with whom, and no other function', () => {
    const { api } = synthesizeStage('dev', { console: true, sign_in });
    const variables = resourcesOf(api, 'AWS::Lambda::Function').map(({ Properties }) => {
      const { Environment, Description } = Properties as {
        readonly Description?: unknown;
        readonly Environment?: { readonly Variables: Readonly<Record<string, unknown>> };
      };
      const names = Object.entries(Environment?.Variables ?? {}).filter(([name]) => name.startsWith('GW_SIGN_IN_'));
      return [JSON.stringify(Description ?? '').includes('/console'), Object.fromEntries(names)] as const;
    });
    expect(variables.filter(([isConsole]) => isConsole).map(([, values]) => values)).toEqual([
      {
        GW_SIGN_IN_ISSUER: sign_in.issuer,
        GW_SIGN_IN_CLIENT_ID: sign_in.client_id,
        GW_SIGN_IN_GROUPS_CLAIM: sign_in.groups_claim,
      },
    ]);
    expect(variables.filter(([isConsole]) => !isConsole).flatMap(([, values]) => Object.keys(values))).toEqual([]);
  });
});
