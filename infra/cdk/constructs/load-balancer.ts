// The load balancer of the tasks: internal, called by CloudFront alone, or, on a private path, by callers in its
// network or joined to it.
import { CfnOutput, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { OriginProtocolPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { VpcOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as elbv2 from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';
import { answerTimes } from '../answer-times.ts';
import type { StageSettings } from '../settings-schema.ts';
import { wildcardId } from './access.ts';
import type { CreateOrigin } from './edge.ts';
import type { Network } from './network.ts';
import { stageLogGroup } from './node-function.ts';

interface LoadBalancerProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly network: Network;
}

/** Longer than a distribution waits for an answer; shorter than a task keeps an idle connection, `containerKeepAliveMs`. */
const afterSilenceSeconds = 2;

/** Addresses that no route of the internet leads to. */
const privateAddresses = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];

const originFacingListName = 'com.amazonaws.global.cloudfront.origin-facing';
const sdkCallFunctionId = `AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`;
const basicExecutionId =
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]';

export class LoadBalancer extends Construct {
  readonly balancer: elbv2.ApplicationLoadBalancer;
  readonly listener: elbv2.ApplicationListener;
  /** URL of clients before /v1 where there is no distribution. Ends in a slash. */
  readonly url: string;
  readonly #stage: string;

  constructor(scope: Construct, id: string, { stage, settings, network }: LoadBalancerProps) {
    super(scope, id);
    this.#stage = stage;
    const { vpc, balancerSubnets } = network;
    const securityGroup = new ec2.SecurityGroup(this, 'Access', {
      vpc,
      description: 'Who may call the load balancer',
      allowAllOutbound: false,
    });
    // A group whose rules are all resources of their own keeps the one that EC2 gives each group: everything may go out.
    securityGroup.addEgressRule(ec2.Peer.ipv4('127.0.0.1/32'), ec2.Port.allTraffic(), 'None, in place of all');
    this.balancer = new elbv2.ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      vpcSubnets: balancerSubnets,
      internetFacing: false,
      securityGroup,
      idleTimeout: Duration.seconds(answerTimes(settings).silenceSeconds + afterSilenceSeconds),
      dropInvalidHeaderFields: true,
    });
    Validations.of(this.balancer).acknowledge({
      id: 'AwsSolutions-ELB2',
      reason: 'The gateway logs one line per request; access logs would repeat it.',
    });
    const { customDomain, edge } = settings;
    if (edge === 'none' && customDomain !== null) {
      for (const range of privateAddresses) securityGroup.addIngressRule(ec2.Peer.ipv4(range), ec2.Port.tcp(443));
      this.listener = this.balancer.addListener('Https', {
        port: 443,
        protocol: elbv2.ApplicationProtocol.HTTPS,
        certificates: [Certificate.fromCertificateArn(this, 'Certificate', customDomain.certificateArn)],
        sslPolicy: elbv2.SslPolicy.RECOMMENDED_TLS,
        open: false,
      });
      new CfnOutput(Stack.of(this), 'LoadBalancerName', { value: this.balancer.loadBalancerDnsName });
    } else {
      securityGroup.addIngressRule(ec2.Peer.prefixList(this.#originFacingList(settings)), ec2.Port.tcp(80));
      // From CloudFront to it, calls go through AWS's own network.
      this.listener = this.balancer.addListener('Http', { port: 80, open: false });
    }
    this.url = `https://${customDomain?.domainNames[0] ?? this.balancer.loadBalancerDnsName}/`;
  }

  /** Id of the list of CloudFront's own addresses, which differs by region and is in no attribute of a resource. */
  #originFacingList(settings: StageSettings): string {
    const found = 'PrefixLists.0.PrefixListId';
    const list = new AwsCustomResource(this, 'OriginFacing', {
      resourceType: 'Custom::OriginFacingList',
      onUpdate: {
        service: 'EC2',
        action: 'describeManagedPrefixLists',
        parameters: { Filters: [{ Name: 'prefix-list-name', Values: [originFacingListName] }] },
        physicalResourceId: PhysicalResourceId.of(originFacingListName),
        outputPaths: [found],
      },
      // This action has no resources.
      policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: AwsCustomResourcePolicy.ANY_RESOURCE }),
      // That of the Lambda runtime knows the action.
      installLatestAwsSdk: false,
      logGroup: stageLogGroup(this, 'OriginFacingLogs', settings),
      serviceTimeout: Duration.minutes(2),
    });
    Validations.of(list).acknowledge({
      id: wildcardId('*'),
      reason: 'The action that reads lists of addresses has no resources.',
    });
    // CDK makes one function for all resources of this kind in a stack.
    Validations.of(Stack.of(this).node.findChild(sdkCallFunctionId)).acknowledge(
      { id: basicExecutionId, reason: 'The policy that CDK gives its own function: it writes log lines.' },
      { id: 'AwsSolutions-L1', reason: 'The runtime of a function of CDK is its own choice.' },
    );
    return list.getResponseField(found);
  }

  /** Origin of a distribution, which reaches a load balancer without a public address. */
  readonly origin: CreateOrigin = (options) =>
    VpcOrigin.withApplicationLoadBalancer(this.balancer, {
      ...options,
      // Names are unique in an account, whatever the region.
      vpcOriginName: `${brand}-${this.#stage}-${Stack.of(this).region}`,
      protocolPolicy: OriginProtocolPolicy.HTTP_ONLY,
    });
}
