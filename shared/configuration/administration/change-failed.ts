import { StoreUnavailable } from '../../storage/store/index.ts';

/**
 * absent       what should be changed is not there
 * taken        another one has the name
 * invalid      the change cannot be made of what is stored
 * conflict     the same was changed otherwise, at this moment or under this id
 * insufficient there is not so much credit that is neither spent nor held
 * forbidden    members may not do it
 * unanswered   the store gave no answer: the change may have been made
 */
export type ChangeFailure = 'absent' | 'taken' | 'invalid' | 'conflict' | 'insufficient' | 'forbidden' | 'unanswered';

/** A change that an operator asked for was not made; nothing was written, unless the store gave no answer. One line. */
export class ChangeFailed extends Error {
  /** By name, because a bundle's on-demand code has a class of its own. */
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

/** Whether an error says, in a text for the operator, why a change cannot be made. By name, as above. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && ['WriteRefused', 'ChangeFailed', 'UnusableRevisions'].includes(error.name);

/** For a write that a store refused with a text for the operator. */
export const refuseAs =
  (failure: 'invalid' | 'conflict') =>
  (cause: unknown): never => {
    if (cause instanceof ChangeFailed || !isRefusal(cause)) throw cause;
    throw new ChangeFailed(failure, cause.message, { cause });
  };

/** For a write that the store may have made although it gave no answer. */
export const refuseUnanswered =
  (advice: string) =>
  (cause: unknown): never => {
    if (!(cause instanceof StoreUnavailable)) throw cause;
    throw new ChangeFailed('unanswered', `the store gave no answer; ${advice}`, { cause });
  };

/** For a new key whose text was shown to no caller, so that it can only be revoked. */
export const refuseUnansweredKey = (list: 'keys' | 'operators', publicId: string) =>
  refuseUnanswered(`should ${list} list show ${publicId}, revoke it: its text is lost`);
