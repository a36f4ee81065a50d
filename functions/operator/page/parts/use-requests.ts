import { useState } from 'preact/hooks';
import { RequestFailed } from '../connection/management.ts';

export interface Requests {
  readonly isRunning: boolean;
  /** Of the last one. */
  readonly failure: RequestFailed | undefined;
  /** Undefined: it failed, and `failure` says why. */
  run<Answer>(request: () => Promise<Answer>): Promise<Answer | undefined>;
}

/** What a part of the page asks for, one after the other. `isRunning`: from the start on. */
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
