// The secret header by which the functions distinguish the distribution from direct callers of their URLs. Secrets
// Manager creates the value, and CloudFormation reads it when it writes the distribution: the template contains a
// reference, the functions' environment a hash.
import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { brand } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../settings-schema.ts';
import { mergeAccess } from './access.ts';
import { customResource } from './custom-resource.ts';
import { encryptedWith, encryptionKeyAccess } from './encryption-key.ts';

/** Letters and digits: 285 bits. */
const secretLength = 48;

export interface OriginSecretProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** The number of a former one, for one deployment. */
  readonly alsoAccepts?: string | undefined;
}

export class OriginSecret extends Construct {
  /** For the distribution: a reference that CloudFormation resolves, never the value. */
  readonly headerValue: string;
  /** Secret that the distribution sends. */
  readonly secretArn: string;
  /** For the functions: SHA-256 in hex of every accepted secret, comma-separated. */
  readonly acceptedHashes: string;

  constructor(scope: Construct, id: string, { stage, settings, alsoAccepts }: OriginSecretProps) {
    super(scope, id);
    const former = Number(alsoAccepts);
    const numbers = [...settings.originSecrets, ...(Number.isInteger(former) ? [former] : [])];
    const secrets = numbers.map((number) => this.#secret(stage, settings, number)) as [Secret, ...Secret[]];
    const secretArns = secrets.map(({ secretArn }) => secretArn);
    this.secretArn = secrets[0].secretArn;
    this.headerValue = secrets[0].secretValue.unsafeUnwrap();

    const hashes = customResource(this, {
      stage,
      settings,
      ids: ['Hashing', 'Hashes'],
      resourceType: 'Custom::OriginSecretHashes',
      description: 'hashes the origin secret for the functions that check it',
      access: mergeAccess(
        { statements: [{ actions: ['secretsmanager:GetSecretValue'], resources: secretArns }] },
        encryptionKeyAccess(settings),
      ),
      properties: { SecretArns: secretArns },
    });
    this.acceptedHashes = hashes.getAttString('Sha256');
  }

  #secret(stage: string, settings: StageSettings, number: number): Secret {
    const secret = new Secret(this, `Secret${number}`, {
      description: `${brand} ${stage}: header that the distribution adds to its requests, number ${number}`,
      generateSecretString: { passwordLength: secretLength, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
      ...encryptedWith(this, settings),
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Rotated by a deployment (originSecrets in the stage settings), as the distribution must change with it.',
    });
    return secret;
  }
}
