/**
 * absent       what should be changed is not there
 * taken        another one has the name
 * invalid      the change cannot be made of what is stored
 * conflict     the same was changed otherwise, at this moment or under this id
 * insufficient there is not so much credit that is neither spent nor held
 * unanswered   the store gave no answer: the change may have been made
 */
export type ChangeFailure = 'absent' | 'taken' | 'invalid' | 'conflict' | 'insufficient' | 'unanswered';

/** A change that an operator asked for was not made; nothing was written, unless the store gave no answer. One line. */
export class ChangeFailed extends Error {
  override readonly name = 'ChangeFailed';
  readonly failure: ChangeFailure;
  constructor(failure: ChangeFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
