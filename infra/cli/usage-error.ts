/** The line that was typed cannot be run. Its message never repeats a value: it may be a secret in the wrong place. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
