// Defines the secret header by which the functions distinguish the distribution from direct callers of their URLs.
// Secrets Manager creates each value. CloudFormation reads the value when it writes the distribution, so that the
// template contains only references. The accepted values are in a secret of a fixed name. The functions read it while
// they run, so that a change reaches every version of their code.
import { Fn, RemovalPolicy, SecretValue, Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { brand, directOrigin } from '../../../shared/foundation/constants/index.ts';
import { originSecretName } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import { encryptedWith } from './encryption-key.ts';

/** Number of letters and digits; 48 are 285 bits. */
const secretLength = 48;

interface OriginSecretProps {
  readonly stage: string;
  readonly settings: StageSettings;
  /** An origin that is accepted for one deployment, which is the number of a former secret, or `direct`. */
  readonly alsoAccepts?: string | undefined;
}

export class OriginSecret extends Construct {
  /** Header value for the distribution: a reference that CloudFormation resolves, never the value itself. */
  readonly headerValue: string;
  /** Secret that the distribution sends. */
  readonly secretArn: string;
  /** Accepted secrets, as the functions read them. */
  readonly accepted: Secret;

  constructor(scope: Construct, id: string, { stage, settings, alsoAccepts }: OriginSecretProps) {
    super(scope, id);
    const isDirect = alsoAccepts === directOrigin;
    const former = isDirect || alsoAccepts === undefined ? [] : [Number(alsoAccepts)];
    const numbers = [...settings.originSecrets, ...former];
    const secrets = numbers.map((number) => this.#secret(stage, settings, number)) as [Secret, ...Secret[]];
    const values = secrets.map(({ secretValue }) => secretValue.unsafeUnwrap()) as [string, ...string[]];
    this.secretArn = secrets[0].secretArn;
    this.headerValue = values[0];
    this.accepted = new Secret(this, 'Accepted', {
      secretName: originSecretName(stage),
      description: `${brand} ${stage}: the headers that the functions accept, comma-separated`,
      // These are references in the template, as for the distribution.
      secretStringValue: SecretValue.unsafePlainText(Fn.join(',', [...values, ...(isDirect ? [directOrigin] : [])])),
      removalPolicy: RemovalPolicy.DESTROY,
      ...encryptedWith(this, settings),
    });
    acknowledgeRotation(this.accepted);
  }

  #secret(stage: string, settings: StageSettings, number: number): Secret {
    const secret = new Secret(this, `Secret${number}`, {
      description: `${brand} ${stage}: header that the distribution adds to its requests, number ${number}`,
      generateSecretString: { passwordLength: secretLength, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
      ...encryptedWith(this, settings),
    });
    acknowledgeRotation(secret);
    return secret;
  }
}

const acknowledgeRotation = (secret: Secret): void =>
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason: 'Rotated by a deployment (originSecrets in the stage settings), as the distribution must change with it.',
  });
