// Answers by CloudFront in place of an origin.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront';
import { Construct } from 'constructs';
import { brand, operatorKeyRefusal } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../settings-schema.ts';

interface OperatorRefusalsProps {
  readonly stage: string;
  readonly settings: Pick<StageSettings, 'sign_in'>;
  /** Folder of the console's page, as it was built. */
  readonly pageFolder: string;
}

/** Made by the function itself: where clients call, where people sign in. */
const settingsFile = 'settings.json';

/**
 * Refusals before the operator function starts. The function's concurrency allows some fifty requests a second, so
 * requests without a credential would keep operators out; here they use none of it.
 */
export function operatorRefusals(
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

/** Refuses the metrics of tasks, of which a distribution reaches any one. */
export const metricsRefusal = (scope: Construct, stage: string): cloudfront.FunctionAssociation =>
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
