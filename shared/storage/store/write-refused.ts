/**
 * A change that what is stored does not allow, or that other writers kept from being made; nothing was written. Its text
 * is for the operator who asked for it, unlike that of any other error, which is a fault of ours.
 */
export class WriteRefused extends Error {
  override readonly name = 'WriteRefused';
  /** Steps to the field at fault in what was to be written; none for all of it. */
  readonly path: readonly (string | number)[];
  constructor(message: string, options: ErrorOptions & { readonly path?: WriteRefused['path'] } = {}) {
    super(message, options);
    this.path = options.path ?? [];
  }
}
