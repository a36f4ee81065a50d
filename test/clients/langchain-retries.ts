interface Failure {
  status?: number;
  headers?: Headers;
  /** The SDK's error for a prompt that is too long. */
  cause?: Failure;
}

export const onFailedAttempt = (error: Failure): void => {
  const { status = 500, headers } = error.cause ?? error;
  const isFinal = headers?.get('x-should-retry') === 'false' || (status < 500 && status !== 429);
  if (isFinal) throw error;
};
