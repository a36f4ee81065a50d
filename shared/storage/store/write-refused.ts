/**
 * Thrown for a change that the stored data do not allow, or that other writers prevented; nothing was written. Its
 * message is for the operator who asked for the change, whereas any other error is a fault of the gateway.
 */
export class WriteRefused extends Error {
  override readonly name = 'WriteRefused';
  /** Path to the field at fault in the value to be written; empty for the whole value. */
  readonly path: readonly (string | number)[];
  constructor(message: string, options: ErrorOptions & { readonly path?: WriteRefused['path'] } = {}) {
    super(message, options);
    this.path = options.path ?? [];
  }
}
