// Plans which callers the functions accept: the distribution, by the number of its secret, or any caller of their URL.
// An origin that the new settings no longer accept stays accepted for one deployment, and the next deployment removes
// it.
import { directOrigin as direct } from '../../../shared/foundation/constants/index.ts';
import type { StageSettings } from '../settings-schema.ts';
import type { DeploymentChange } from '../this-deployment.ts';

/** Output of the api stack: the numbers of the secrets, first the number of the secret that is sent, or `direct`. */
export const acceptedOutput = 'AcceptedOrigins';

export const wantedOrigins = ({ edge, originSecrets }: Pick<StageSettings, 'edge' | 'originSecrets'>): string[] =>
  edge === 'none' ? [direct] : originSecrets.map(String);

/**
 * Plans the change of the accepted origins. `outputs` are the outputs of the deployed api stack, undefined if it is not
 * deployed.
 */
export function planOriginChange(
  stage: string,
  settings: Pick<StageSettings, 'edge' | 'originSecrets'>,
  outputs: Readonly<Record<string, string>> | undefined,
): DeploymentChange {
  // Nothing is deployed yet, or the first deployment failed.
  if (outputs?.BaseUrl === undefined) return {};
  const origins = wantedOrigins(settings);
  const { BaseUrl: baseUrl, DirectUrl: directUrl = baseUrl } = outputs;
  const accepted = outputs[acceptedOutput]?.split(',') ?? (outputs.DistributionId === undefined ? [direct] : origins);
  const [currentOrigin = direct] = accepted;
  const nameOf = (one: string) =>
    one === direct ? `calls of ${directUrl} without the distribution` : `origin secret ${one}`;
  if (settings.edge === 'none') {
    const question = `remove the distribution: clients of ${baseUrl} get no answer any more`;
    return currentOrigin === direct ? {} : { question };
  }
  if (!origins.includes(currentOrigin)) {
    return {
      alsoAccepts: currentOrigin,
      question: `change what stands before the functions; ${nameOf(currentOrigin)} stays accepted until you deploy once more`,
      next: `${nameOf(currentOrigin)} is still accepted. Once nothing uses it: npm run deploy -- --stage ${stage}`,
    };
  }
  const unwanted = accepted.filter((one) => !origins.includes(one));
  return unwanted.length === 0 ? {} : { question: `refuse ${unwanted.map(nameOf).join(' and ')} from now on` };
}
