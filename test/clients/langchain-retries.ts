export const onFailedAttempt = (error: { status?: number; headers?: Headers }): void => {
  const { status = 500, headers } = error;
  const isFinal = headers?.get('x-should-retry') === 'false' || (status < 500 && status !== 429);
  if (isFinal) throw error;
};
