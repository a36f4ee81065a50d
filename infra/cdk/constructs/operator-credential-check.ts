// Refusals by CloudFront before the operator function starts. The function's concurrency allows some fifty requests a
// second, so requests without a credential would keep operators out; here they use none of it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import { brand, operatorKeyRefusal } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../settings-schema.ts';

export interface OperatorCredentialCheckProps {
  readonly stage: string;
  readonly settings: Pick<StageSettings, 'sign_in'>;
  /** Folder of the console's page, as it was built. */
  readonly pageFolder: string;
}

/** Made by the function itself: where clients call, where people sign in. */
const settingsFile = 'settings.json';

export class OperatorCredentialCheck extends Construct {
  readonly association: cloudfront.FunctionAssociation;

  constructor(scope: Construct, id: string, { stage, settings, pageFolder }: OperatorCredentialCheckProps) {
    super(scope, id);
    const signsIn = settings.sign_in !== undefined && settings.sign_in !== null;
    const pageFiles = [...readdirSync(pageFolder), settingsFile].toSorted();
    const source = readFileSync(join(import.meta.dirname, 'operator-credential-check/index.js'), 'utf8');
    this.association = {
      eventType: cloudfront.FunctionEventType.VIEWER_REQUEST,
      function: new cloudfront.Function(this, 'Function', {
        runtime: cloudfront.FunctionRuntime.JS_2_0,
        comment: `${brand} ${stage}: requests of operators without a credential`,
        code: cloudfront.FunctionCode.fromInline(
          `const settings = ${JSON.stringify({ pageFiles, signsIn, credentialRefusal: operatorKeyRefusal })};\n${source}`,
        ),
      }),
    };
  }
}
