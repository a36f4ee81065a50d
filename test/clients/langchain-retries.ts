interface Failure {
  status?: number;
  headers?: Headers;
  /** Of a prompt that is too long: what the SDK threw. */
  cause?: Failure;
}

export const onFailedAttempt = (error: Failure): void => {
  const { status = 500, headers } = error.cause ?? error;
  const isFinal = headers?.get('x-should-retry') === 'false' || (status < 500 && status !== 429);
  if (isFinal) throw error;
};
