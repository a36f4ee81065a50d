// Defines one base URL in front of the gateway. /v1/models goes to the model listing if that is an origin of its own,
// and every other path goes to the chat origin. Nothing is cached, compressed or retried, not even errors, because
// answers belong to one workspace. Files of the console's page belong to no workspace, and are cached.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import {
  basePaths,
  brand,
  headerNames,
  metricsEndpoint,
  operatorKeyRefusal,
  rootPaths,
  routePaths,
} from '../../../shared/foundation/constants/index.ts';
import { answerTimes } from '../answer-times.ts';
import type { StageSettings } from '../settings-schema.ts';

/**
 * CloudFront would cache answers with these statuses for ten seconds and replay them, whatever `cache-control`
 * contains.
 */
const errorStatuses = [400, 403, 404, 405, 414, 500, 501, 502, 503, 504];
const keepAliveSeconds = 60;

/** Paths of the models function. */
const modelPaths = basePaths.flatMap((base) =>
  // In a path pattern of CloudFront one asterisk matches slashes too.
  [routePaths.models, routePaths.model.replace('**', '*')].map((path) => base + path),
);

/**
 * Calls of a model that the path names, among the paths of the models function. If two patterns match, CloudFront uses
 * the first.
 */
const calledModelPaths = [`${basePaths[0]}${routePaths.model.replace('**', '*:*')}`];

/** Paths of the operator function, for operators and for people who open the page. */
const managePaths = [`${basePaths[0]}/manage/*`];
const pagePaths = [`${rootPaths.console}*`];
/**
 * Time for which a page is cached, including files that a browser requests each time. A client that loads the files
 * over and over therefore uses no executions that operators need. After a deployment the former page may be shown for
 * this long.
 */
const pageKeptSeconds = 10;
const namedFilesKeptDays = 365;

/** Options that all origins of this file share; function URLs and other HTTP origins accept all of them. */
interface OriginOptions {
  readonly readTimeout: Duration;
  readonly responseCompletionTimeout: Duration;
  readonly keepaliveTimeout: Duration;
  readonly connectionAttempts: number;
  readonly connectionTimeout: Duration;
  readonly customHeaders: Record<string, string>;
}
export type CreateOrigin = (options: OriginOptions) => cloudfront.IOrigin;

export interface OperatorOrigin {
  readonly origin: CreateOrigin;
  readonly pageFolder: string;
}

interface EdgeProps {
  readonly stage: string;
  readonly settings: Pick<
    StageSettings,
    'compute' | 'customDomain' | 'edge' | 'webAclArn' | 'streamBudgetSeconds' | 'sign_in'
  >;
  readonly chatOrigin: CreateOrigin;
  /** Undefined if the chat origin lists models too. */
  readonly modelsOrigin?: CreateOrigin | undefined;
  /** Undefined if the stage has no console. */
  readonly operator?: OperatorOrigin | undefined;
  /** Whether the chat origin consists of several processes, each with metrics of its own. */
  readonly isTasks: boolean;
  /** Value that is sent with every origin request, in the header that the functions check. */
  readonly originSecretHeaderValue: string;
}

export class Edge extends Construct {
  readonly distribution: cloudfront.Distribution;
  /** The part of clients' URLs before /v1. */
  readonly domainName: string;

  constructor(scope: Construct, id: string, props: EdgeProps) {
    super(scope, id);
    const { stage, settings, chatOrigin, modelsOrigin, operator, isTasks, originSecretHeaderValue } = props;
    const { silenceSeconds, completionTimeoutSeconds } = answerTimes(settings);
    const behavior = (createOrigin: CreateOrigin): cloudfront.BehaviorOptions => ({
      origin: createOrigin({
        // A JSON answer sends nothing until it is complete; a stream sends comments.
        readTimeout: Duration.seconds(silenceSeconds),
        responseCompletionTimeout: Duration.seconds(completionTimeoutSeconds),
        keepaliveTimeout: Duration.seconds(keepAliveSeconds),
        connectionAttempts: 2,
        connectionTimeout: Duration.seconds(3),
        customHeaders: { [headerNames.originSecret]: originSecretHeaderValue },
      }),
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      // A function URL answers 403 to the viewer's Host header. Authorization must reach the gateway.
      originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      // A compressor would buffer the chunks of a stream.
      compress: false,
    });
    // Neither the query nor any header changes the answer, so neither is part of the cache key.
    const pagePolicy = () =>
      new cloudfront.CachePolicy(this, 'PagePolicy', {
        comment: `${brand} ${stage}: files of the console`,
        minTtl: Duration.seconds(pageKeptSeconds),
        defaultTtl: Duration.seconds(pageKeptSeconds),
        maxTtl: Duration.days(namedFilesKeptDays),
      });
    // All paths share one origin.
    const behaviorsOf = (paths: readonly string[], shared: cloudfront.BehaviorOptions) =>
      Object.fromEntries(paths.map((path) => [path, shared]));
    const operatorBehaviors = ({ origin, pageFolder }: OperatorOrigin) => {
      const functionAssociations = [operatorRefusals(this, { stage, settings, pageFolder })];
      const manage = { ...behavior(origin), functionAssociations };
      const page = {
        origin: manage.origin,
        allowedMethods: cloudfront.AllowedMethods.ALLOW_GET_HEAD,
        viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: pagePolicy(),
        compress: false,
        functionAssociations,
      };
      return { ...behaviorsOf(managePaths, manage), ...behaviorsOf(pagePaths, page) };
    };
    const chat = behavior(chatOrigin);
    const additionalBehaviors = {
      ...(isTasks ? { [metricsEndpoint.path]: { ...chat, functionAssociations: [metricsRefusal(this, stage)] } } : {}),
      ...(modelsOrigin && {
        ...behaviorsOf(calledModelPaths, chat),
        ...behaviorsOf(modelPaths, behavior(modelsOrigin)),
      }),
      ...(operator && operatorBehaviors(operator)),
    };
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: `${brand} ${stage}`,
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      defaultBehavior: chat,
      additionalBehaviors,
      errorResponses: errorStatuses.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      ...this.#domain(settings),
      ...(settings.webAclArn === null ? {} : { webAclId: settings.webAclArn }),
    });
    this.domainName = settings.customDomain?.domainNames[0] ?? this.distribution.distributionDomainName;
    this.#acknowledgeFindings(settings);
  }

  #domain({ customDomain }: EdgeProps['settings']) {
    if (customDomain === null) return {};
    return {
      domainNames: [...customDomain.domainNames],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', customDomain.certificateArn),
      minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
    };
  }

  #acknowledgeFindings({ customDomain, webAclArn }: EdgeProps['settings']): void {
    const findings = Validations.of(this.distribution);
    findings.acknowledge(
      { id: 'AwsSolutions-CFR1', reason: 'Callers are machines with a key; their country is no reason to refuse.' },
      { id: 'AwsSolutions-CFR3', reason: 'The functions log one line per request; access logs would repeat it.' },
    );
    if (webAclArn === null) {
      const reason =
        'A web ACL is billed while idle; keys and limits are checked by the functions. Setting: webAclArn.';
      findings.acknowledge({ id: 'AwsSolutions-CFR2', reason });
    }
    if (customDomain === null) {
      const reason = 'The default certificate of cloudfront.net fixes the TLS versions itself. Setting: customDomain.';
      findings.acknowledge({ id: 'AwsSolutions-CFR4', reason });
    }
  }
}

// Answers that CloudFront gives instead of an origin.

interface OperatorRefusalsProps {
  readonly stage: string;
  readonly settings: Pick<StageSettings, 'sign_in'>;
  /** Folder of the console's built page. */
  readonly pageFolder: string;
}

/** The function itself writes this file: where clients call, and where people sign in. */
const settingsFile = 'settings.json';

/**
 * Refuses requests before the operator function starts. The function's concurrency allows some fifty requests a second,
 * so requests without a credential would lock operators out. Requests that are refused before use no concurrency.
 */
function operatorRefusals(
  scope: Construct,
  { stage, settings, pageFolder }: OperatorRefusalsProps,
): cloudfront.FunctionAssociation {
  const signsIn = settings.sign_in !== undefined && settings.sign_in !== null;
  const pageFiles = [...readdirSync(pageFolder), settingsFile].toSorted();
  const written = JSON.stringify({ pageFiles, signsIn, credentialRefusal: operatorKeyRefusal });
  return beforeOrigin(scope, 'OperatorCredentialCheck', {
    comment: `${brand} ${stage}: requests of operators without a credential`,
    code: `const settings = ${written};\n${sourceOf('answer')}${sourceOf('operators')}`,
  });
}

/** Refuses the metrics of tasks, because a request through a distribution reaches an arbitrary task. */
const metricsRefusal = (scope: Construct, stage: string): cloudfront.FunctionAssociation =>
  beforeOrigin(scope, 'MetricsRefusal', {
    comment: `${brand} ${stage}: metrics of tasks`,
    code: sourceOf('answer') + sourceOf('metrics'),
  });

const sourceOf = (name: string): string => readFileSync(join(import.meta.dirname, `edge-refusals/${name}.js`), 'utf8');

const beforeOrigin = (
  scope: Construct,
  id: string,
  { comment, code }: { readonly comment: string; readonly code: string },
): cloudfront.FunctionAssociation => ({
  eventType: cloudfront.FunctionEventType.VIEWER_REQUEST,
  function: new cloudfront.Function(new Construct(scope, id), 'Function', {
    runtime: cloudfront.FunctionRuntime.JS_2_0,
    comment,
    code: cloudfront.FunctionCode.fromInline(code),
  }),
});
