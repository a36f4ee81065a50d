import { StoreUnavailable } from '../../storage/store/index.ts';

/**
 * Why a change was not made:
 * absent       the resource does not exist
 * taken        another resource has the name
 * invalid      the change is impossible for what is stored
 * conflict     another writer changed it at this moment, or in another way under this id
 * insufficient less credit is free, which means neither spent nor reserved
 * forbidden    members may not do it
 * unanswered   the store did not answer: the change may have been made
 */
export type ChangeFailure = 'absent' | 'taken' | 'invalid' | 'conflict' | 'insufficient' | 'forbidden' | 'unanswered';

/**
 * Thrown when a change that an operator asked for was not made; nothing was written, unless the store did not answer.
 * The message has one line.
 */
export class ChangeFailed extends Error {
  /** Compares by name, because a bundle that is loaded on demand has a class of its own. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return error instanceof Error && error.name === 'ChangeFailed';
  }

  override readonly name = 'ChangeFailed';
  readonly failure: ChangeFailure;
  /** The field of the change at fault, if any. */
  readonly param: string | undefined;
  constructor(failure: ChangeFailure, message: string, options: ErrorOptions & { readonly param?: string } = {}) {
    super(message, options);
    this.failure = failure;
    this.param = options.param;
  }
}

/** True for an error whose text tells the operator why a change cannot be made. It compares by name, as above. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && ['WriteRefused', 'ChangeFailed', 'UnusableRevisions'].includes(error.name);

/** Returns a handler for a write that a store refused with a text for the operator. */
export const refuseAs =
  (failure: 'invalid' | 'conflict') =>
  (cause: unknown): never => {
    if (cause instanceof ChangeFailed || !isRefusal(cause)) throw cause;
    throw new ChangeFailed(failure, cause.message, { cause });
  };

/** Returns a handler for a write that may have been made although the store did not answer. */
export const refuseUnanswered =
  (advice: string) =>
  (cause: unknown): never => {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new ChangeFailed('unanswered', `the store gave no answer; ${advice}`, { cause });
  };

/** Returns a handler for a new key whose text was not shown to any caller, so that it can only be revoked. */
export const refuseUnansweredKey = (list: 'keys' | 'operators', publicId: string) =>
  refuseUnanswered(`should ${list} list show ${publicId}, revoke it: its text is lost`);
