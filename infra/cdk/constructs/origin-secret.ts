// The secret header by which the functions tell the distribution from a caller who found their URLs. The value is made
// in Secrets Manager, and only CloudFormation reads it when it writes it into the distribution: the template holds a
// reference, the functions' environment a hash.
import { join } from 'node:path';
import { CustomResource, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { StageSettings } from '../stage-settings.ts';
import { NodeFunction } from './node-function.ts';

/** 62^48 values: as hard to guess as a key of 285 bits. */
const secretLength = 48;

export interface OriginSecretProps {
  readonly stage: string;
  readonly settings: StageSettings;
}

export class OriginSecret extends Construct {
  /** For the distribution: a reference that CloudFormation resolves, never the value. */
  readonly headerValue: string;
  /** For the functions: SHA-256 in hex of every accepted secret, comma-separated. */
  readonly acceptedHashes: string;

  constructor(scope: Construct, id: string, { stage, settings }: OriginSecretProps) {
    super(scope, id);
    const [sent, ...alsoAccepted] = settings.originSecrets;
    const sentSecret = this.#secret(stage, sent);
    const secretArns = [sentSecret, ...alsoAccepted.map((number) => this.#secret(stage, number))].map(
      (secret) => secret.secretArn,
    );
    this.headerValue = sentSecret.secretValue.unsafeUnwrap();

    const hashing = new NodeFunction(this, 'Hashing', {
      stage,
      settings,
      codeFolder: join(import.meta.dirname, 'origin-secret-hash'),
      description: 'Runs during deployments only: hashes the origin secret for the functions that check it',
      overrides: { memorySize: 128, timeout: Duration.seconds(30) },
    });
    hashing.give({ statements: [{ actions: ['secretsmanager:GetSecretValue'], resources: secretArns }] });
    const hashes = new CustomResource(this, 'Hashes', {
      serviceToken: hashing.function.functionArn,
      resourceType: 'Custom::OriginSecretHashes',
      serviceTimeout: Duration.minutes(2),
      properties: { SecretArns: secretArns },
    });
    // Not before the role may read: a policy is a resource of its own.
    hashes.node.addDependency(hashing);
    this.acceptedHashes = hashes.getAttString('Sha256');
  }

  #secret(stage: string, number: number): Secret {
    const secret = new Secret(this, `Secret${number}`, {
      description: `gw ${stage}: header that the distribution adds to its requests, number ${number}`,
      generateSecretString: { passwordLength: secretLength, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Rotated by a deployment (originSecrets in the stage settings), as the distribution must change with it.',
    });
    return secret;
  }
}
