// Calls a package's models that answer whole, from a body that was read whole. Several calls may make one answer, each
// with memory of its own.
import type { Candidate } from '../../../configuration/catalogue/index.ts';
import type { HubApi } from '../../../foundation/constants/index.ts';
import type { FormBody, TextWithFiles } from '../../../protocol/forms/index.ts';
import type { ClientInterface } from '../../../protocol/interfaces/index.ts';
import type { AnswerParts } from '../../../protocol/memory-budget/index.ts';
import type { CallSize, JsonObject } from '../../../protocol/wire/index.ts';
import type { CandidateRequest, NoAnswer, OpenPart, Pause } from '../../providers/index.ts';
import { readFailure } from './call-through-hub.ts';
import { createExchange, type Exchange } from './package-exchange.ts';
import type { HubTarget } from './targets/hub-target.ts';

export interface PackageTask {
  /** Format of the provider, whose package is used. */
  readonly api: HubApi;
  /** The client's body, complete. */
  readonly body: JsonObject;
  readonly size: CallSize;
  readonly clientModel: string;
  /** The client's files, if it sent a form. */
  readonly form: FormBody | undefined;
  /** Id of an answer in which the provider states none. */
  readonly id: string;
  readonly createdSeconds: number;
  readonly readAnswer: ClientInterface['readAnswer'];
  readonly pause: Pause;
}

/** The parts of a call that determine into how many requests it is split, before it begins. */
export interface SplitTask extends Pick<PackageTask, 'api' | 'size'> {
  readonly candidate: Candidate;
}

interface PackagePart {
  readonly exchange: Exchange;
  /** Releases the memory of the answer, except for that of this part of its weight. */
  readonly keepAnswer: (part: keyof AnswerParts) => void;
  /** Returns the failure for an error that the package has thrown. Throws if the connection broke. */
  readonly failureOf: (error: unknown) => NoAnswer;
}

interface PartOptions {
  readonly target: HubTarget;
  /** Completes the answer for the package. */
  readonly completeAnswer?: ((text: string) => string) | undefined;
  /** Completes the package's request. */
  readonly body?: ((text: string) => string | TextWithFiles) | undefined;
  /** Target of the request, besides what the package's request says. */
  readonly sentTo?: Pick<CandidateRequest, 'hostname'> | undefined;
}

export function openPackagePart(
  openPart: OpenPart,
  { target, completeAnswer, body, sentTo }: PartOptions,
): PackagePart {
  let part = openPart();
  let answerBytes = 0;
  const exchange = createExchange({
    send: async (packageRequest) => {
      const request = { ...packageRequest, ...sentTo };
      const result = await part.send(request).catch((error: unknown) => {
        if (!part.wasDead()) throw error;
        // Only this part is repeated, because other parts may have been paid for.
        part = openPart();
        return part.send(request);
      });
      if (result.kind === 'failure') return result;
      const readText = async () => {
        const text = await result.readText();
        answerBytes = text?.length ?? 0;
        return text;
      };
      return { ...result, readText, isStream: false };
    },
    stream: false,
    target: { ...target, answerSteps: [] },
    body: (text) => body?.(text) ?? text,
    takeOut: completeAnswer ?? ((text) => text),
    refusedText: () => undefined,
    // Files of megabytes.
    isLong: () => true,
  });
  return {
    exchange,
    keepAnswer: (name) => part.keep({ [name]: answerBytes }),
    failureOf(error) {
      const failure = part.refused();
      return failure === undefined ? readFailure(error, exchange) : { kind: 'failure', failure };
    },
  };
}
