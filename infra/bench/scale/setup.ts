// What is asked of a gateway, and how it is set up. The default is the hardest case: every call comes from one key of one
// workspace and asks for one model.

export interface Setup {
  /** From arrival to the last byte. */
  readonly secondsPerCall: number;
  readonly memoryMb: number;
  /** Traffic is spread evenly over each of these. */
  readonly workspaces: number;
  readonly keys: number;
  readonly models: number;
  /** The limits of a key that are set. */
  readonly keySpendLimit: boolean;
  readonly keyRequestsPerMinute: boolean;
  readonly creditShards: number;
  readonly accountConcurrency: number;
  /** Write units a second that each table is warmed up for. */
  readonly tableWritesPerSecond: number;
  readonly compute: 'lambda' | 'web';
}

/** Environments at work at the same time. */
export const environmentsOf = ({ secondsPerCall, compute }: Setup, perSecond: number, callsPerWebEnvironment: number) =>
  Math.max(1, Math.ceil((perSecond * secondsPerCall) / (compute === 'web' ? callsPerWebEnvironment : 1)));
