import { useState } from 'preact/hooks';
import { type Change, manage, RequestFailed } from '../connection/management.ts';

export interface Changing {
  readonly isChanging: boolean;
  readonly failure: RequestFailed | undefined;
  /** Undefined: it failed, and `failure` says why. */
  run<Answer>(path: string, change: Change): Promise<Answer | undefined>;
}

/** One change at a time, with its failure. */
export function useChange(): Changing {
  const [isChanging, setIsChanging] = useState(false);
  const [failure, setFailure] = useState<RequestFailed>();
  return {
    isChanging,
    failure,
    async run<Answer>(path: string, change: Change) {
      setIsChanging(true);
      setFailure(undefined);
      try {
        return await manage<Answer>(path, change);
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error;
        setFailure(error);
        return undefined;
      } finally {
        setIsChanging(false);
      }
    },
  };
}
