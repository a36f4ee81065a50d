// One base URL in front of the gateway: everything goes to the chat origin, /v1/models to the listing where that is an
// origin of its own. Nothing is cached, compressed or retried here, errors least of all: one workspace's answer is no
// other's.
import { Duration, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import {
  basePaths,
  headerNames,
  originReadTimeoutSeconds,
  routePaths,
} from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../stage-settings.ts';

/** Statuses CloudFront would keep for ten seconds and replay to everyone, whatever `cache-control` says. */
const errorStatuses = [400, 403, 404, 405, 414, 500, 501, 502, 503, 504];
/** A whole answer. Later than Lambda's own limit, so that the function is what ends a call. */
const responseCompletionTimeoutSeconds = 75;
const keepAliveSeconds = 60;

/** What the models function serves. */
const modelPaths = basePaths.flatMap((base) => [`${base}${routePaths.models}`, `${base}${routePaths.model}`]);

/** What every origin here has in common; function URLs and other HTTP origins take all of it. */
export interface OriginOptions {
  readonly readTimeout: Duration;
  readonly responseCompletionTimeout: Duration;
  readonly keepaliveTimeout: Duration;
  readonly connectionAttempts: number;
  readonly connectionTimeout: Duration;
  readonly customHeaders: Record<string, string>;
}
export type OriginMaker = (options: OriginOptions) => cloudfront.IOrigin;

export interface EdgeProps {
  readonly stage: string;
  readonly settings: Pick<StageSettings, 'customDomain' | 'webAclArn'>;
  readonly chat: OriginMaker;
  /** Undefined: the chat origin lists models too. */
  readonly models?: OriginMaker | undefined;
  /** Sent with every origin request, in the header that the functions check. */
  readonly originSecretHeaderValue: string;
}

export class Edge extends Construct {
  readonly distribution: cloudfront.Distribution;
  /** What clients put before /v1. */
  readonly domainName: string;

  constructor(scope: Construct, id: string, { stage, settings, chat, models, originSecretHeaderValue }: EdgeProps) {
    super(scope, id);
    const behaviour = (origin: OriginMaker): cloudfront.BehaviorOptions => ({
      origin: origin({
        // The longest silence of an answer: a JSON body sends nothing until it is complete.
        readTimeout: Duration.seconds(originReadTimeoutSeconds),
        responseCompletionTimeout: Duration.seconds(responseCompletionTimeoutSeconds),
        keepaliveTimeout: Duration.seconds(keepAliveSeconds),
        connectionAttempts: 2,
        connectionTimeout: Duration.seconds(3),
        customHeaders: { [headerNames.originSecret]: originSecretHeaderValue },
      }),
      allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
      viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
      cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
      // With the viewer's Host a function URL answers 403; without Authorization nobody gets in.
      originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      // A compressor would hold back chunks of a stream.
      compress: false,
    });
    // One origin for all of its paths.
    const modelsBehaviour = models && behaviour(models);
    this.distribution = new cloudfront.Distribution(this, 'Distribution', {
      comment: `gw ${stage}`,
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      defaultBehavior: behaviour(chat),
      ...(modelsBehaviour === undefined
        ? {}
        : { additionalBehaviors: Object.fromEntries(modelPaths.map((path) => [path, modelsBehaviour])) }),
      errorResponses: errorStatuses.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      ...this.#names(settings),
      ...(settings.webAclArn === null ? {} : { webAclId: settings.webAclArn }),
    });
    this.domainName = settings.customDomain?.domainNames[0] ?? this.distribution.distributionDomainName;
    this.#acknowledgeFindings(settings);
  }

  #names({ customDomain }: EdgeProps['settings']) {
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
      { id: 'AwsSolutions-CFR1', reason: 'Callers are machines with a key; where they stand is no reason to refuse.' },
      { id: 'AwsSolutions-CFR3', reason: 'The functions log one line per request; access logs would repeat it.' },
    );
    if (webAclArn === null) {
      const reason = 'A web ACL is billed while idle; keys and their limits are checked behind. Setting: webAclArn.';
      findings.acknowledge({ id: 'AwsSolutions-CFR2', reason });
    }
    if (customDomain === null) {
      const reason = 'The default certificate of cloudfront.net fixes the TLS versions itself. Setting: customDomain.';
      findings.acknowledge({ id: 'AwsSolutions-CFR4', reason });
    }
  }
}
