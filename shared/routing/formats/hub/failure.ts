// Converts a package's error, thrown or inside a stream, to a failure of the attempt.
import { AISDKError, type LanguageModelV4FinishReason } from '@ai-sdk/provider';
import { impliedFinishReason } from '../../../protocol/hub/index.ts';
import { isEndWord, isJsonObject, meaningOfEnd } from '../../../protocol/wire/index.ts';
import { type AttemptFailure, classifyErrorObject, classifyStatus, type DescribeText } from '../../providers/index.ts';

/**
 * Returns the failure of a request that the target's format cannot express, found before anything was sent; undefined
 * for another error, which is a fault of the gateway.
 */
export const untranslatable = (error: unknown): AttemptFailure | undefined =>
  AISDKError.isInstance(error)
    ? {
        kind: 'invalid',
        reason: /image mime type/.test(error.message) ? 'unsupported_image_format' : undefined,
        cause: 'not_translatable',
      }
    : undefined;

/** Returns the failure of an answer, or of a part of it. `cause` is used if the error has none. */
export function failureOfAnswer(error: unknown, describe: DescribeText, cause: string): AttemptFailure {
  const { data, statusCode, responseBody, message, type } =
    isJsonObject(error) || error instanceof Error ? (error as PackageError) : {};
  const body = data ?? parsed(responseBody);
  // The code of an error event is more precise than the status that a package derives from the code.
  if (isJsonObject(body) && body.type === 'error' && isJsonObject(body.error) && typeof body.error.code === 'string') {
    return { ...classifyErrorObject(body), providerText: describe(body) };
  }
  if (typeof statusCode === 'number' && statusCode >= 400) {
    const details = isJsonObject(body) && isJsonObject(body.error) ? body.error.details : undefined;
    // The package has found the text, wherever the format puts it.
    const failure = classifyStatus(statusCode, { error: { message, type, details } });
    return { ...failure, cause: `error_object_${statusCode}`, providerText: describe(body) };
  }
  if (isJsonObject(body) && isJsonObject(body.error)) {
    return { ...classifyErrorObject(body), providerText: describe(body) };
  }
  // The part is an error in the place of a chunk.
  if (isJsonObject(error) && !(error instanceof Error) && typeof message === 'string') {
    return { ...classifyErrorObject({ error }), providerText: describe({ error }) };
  }
  return { kind: 'failed', cause };
}

/** Maximum length of an error. A longer answer is not searched for an error. */
const errorMaxCharacters = 1024 * 1024;

/** Finds an error in an answer with a success status, because not every package recognizes the error. */
export function errorIn(text: string | undefined, describe: DescribeText): AttemptFailure | undefined {
  const isShort = text !== undefined && text.length <= errorMaxCharacters;
  const body = isShort && text.includes('"error"') ? parsed(text) : undefined;
  if (!isJsonObject(body) || !isJsonObject(body.error)) return undefined;
  return { ...classifyErrorObject(body), providerText: describe(body) };
}

interface PackageError {
  readonly data?: unknown;
  readonly statusCode?: unknown;
  readonly responseBody?: unknown;
  readonly message?: unknown;
  readonly type?: unknown;
}

function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The output before an end. */
interface AnswerProgress {
  /** True for a whole answer, with or without text. Nothing follows a whole answer. */
  readonly isWhole: boolean;
  readonly hasContent: boolean;
  readonly hasCalls: boolean;
}

/**
 * Maps finish reasons that the packages do not know; an empty one counts as missing. Gemini has many reasons for not
 * making an image.
 */
export function knownEnd(reason: LanguageModelV4FinishReason, progress: AnswerProgress): LanguageModelV4FinishReason {
  const { unified, raw } = reason;
  if (!isEndWord(raw) || raw === impliedFinishReason) {
    const isOver = progress.isWhole || (raw === impliedFinishReason && progress.hasContent);
    return isOver ? { unified: progress.hasCalls ? 'tool-calls' : 'stop', raw: 'stop' } : noEnd;
  }
  const meaning = meaningOfEnd(raw);
  if (meaning === 'refused') return { unified: 'content-filter', raw };
  if (meaning === 'bounded') return { unified: 'length', raw };
  return meaning === 'broken' ? { unified: 'error', raw } : { unified, raw };
}

const noEnd: LanguageModelV4FinishReason = { unified: 'interrupted', raw: undefined };

/**
 * Returns a failure if the provider ended without a reason. `isEmpty` is true if the answer has no parts although it
 * must have a part.
 */
export function finishFailure(
  { unified, raw }: LanguageModelV4FinishReason,
  unfinished: 'truncated_stream' | 'unreadable_answer',
  isEmpty: boolean,
): AttemptFailure | undefined {
  if (unified === 'interrupted' || raw === undefined) return { kind: 'failed', cause: unfinished };
  if (unified === 'error') return { kind: 'failed', cause: 'finish_error' };
  return isEmpty && (unified === 'stop' || unified === 'other') ? { kind: 'failed', cause: 'no_output' } : undefined;
}
