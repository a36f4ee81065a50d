// Whom the functions accept: the distribution by the number of the secret it sends, or any caller that has their URL. What
// is accepted now and would not be any more stays accepted for one deployment, and the next one takes it away.
import type { StageSettings } from '../settings-schema.ts';

/** Output of the api stack: numbers of secrets, the one that is sent first, or `direct`. */
export const acceptedOutput = 'AcceptedOrigins';
export const direct = 'direct';

export const wantedOrigins = ({ edge, originSecrets }: Pick<StageSettings, 'edge' | 'originSecrets'>): string[] =>
  edge === 'none' ? [direct] : originSecrets.map(String);

export interface OriginChange {
  /** For one deployment: what is accepted beside what the settings name. */
  readonly alsoAccepts?: string;
  /** For the operator to confirm, a sentence without its subject. */
  readonly question?: string;
  /** Told at the end of a deployment that is to be followed by another one. */
  readonly next?: string;
}

/** `outputs`: of the deployed api stack, undefined where there is none. */
export function planOriginChange(
  stage: string,
  settings: Pick<StageSettings, 'edge' | 'originSecrets'>,
  outputs: Readonly<Record<string, string>> | undefined,
): OriginChange {
  // Nothing stands there yet, or what failed at first.
  if (outputs?.BaseUrl === undefined) return {};
  const wanted = wantedOrigins(settings);
  const { BaseUrl: baseUrl, DirectUrl: directUrl = baseUrl } = outputs;
  const accepted = outputs[acceptedOutput]?.split(',') ?? (outputs.DistributionId === undefined ? [direct] : wanted);
  const [sent = direct] = accepted;
  if (settings.edge === 'none') {
    const question = `remove the distribution: clients of ${baseUrl} get no answer any more`;
    return sent === direct ? {} : { question };
  }
  const command = `npm run deploy -- --stage ${stage}`;
  if (!wanted.includes(sent)) {
    const what = sent === direct ? `calls of ${directUrl} without the distribution` : `origin secret ${sent}`;
    return {
      alsoAccepts: sent,
      question: `change what stands before the functions; ${what} stays accepted until you deploy once more`,
      next: `${what} is still accepted. Once nothing uses it: ${command}`,
    };
  }
  const left = accepted.filter((one) => !wanted.includes(one));
  if (left.length === 0) return {};
  const what = left.map((one) =>
    one === direct ? `calls of ${directUrl} without the distribution` : `origin secret ${one}`,
  );
  return { question: `refuse ${what.join(' and ')} from now on` };
}
