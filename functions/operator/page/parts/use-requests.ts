import { useState } from 'preact/hooks';
import { RequestFailed } from '../connection/management.ts';

export interface Requests {
  readonly isRunning: boolean;
  /** Failure of the last request. */
  readonly failure: RequestFailed | undefined;
  /** Runs the request. If the request fails, returns undefined and stores the reason in `failure`. */
  run<Answer>(request: () => Promise<Answer>): Promise<Answer | undefined>;
}

/**
 * Runs the requests of a part of the page, and stores whether a request is running and why the last request failed.
 * With `startsRunning`, `isRunning` is true from the start.
 */
export function useRequests(startsRunning = false): Requests {
  const [isRunning, setIsRunning] = useState(startsRunning);
  const [failure, setFailure] = useState<RequestFailed>();
  return {
    isRunning,
    failure,
    async run(request) {
      setIsRunning(true);
      setFailure(undefined);
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error;
        setFailure(error);
        return undefined;
      } finally {
        setIsRunning(false);
      }
    },
  };
}
