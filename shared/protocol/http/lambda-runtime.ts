// Types of the used part of the `awslambda` global, which only the Lambda runtime defines. It is looked up when a
// handler is built, never on import, so that everything else can be loaded without it.

/** Reliable part of the response stream of one invocation. */
export interface LambdaResponseStream {
  write(text: string): boolean;
  write(text: string, encoding: 'latin1'): boolean;
  end(): void;
  destroy(): unknown;
  removeAllListeners(event: 'error'): unknown;
  on(event: 'error', listener: () => void): unknown;
  once(event: 'drain' | 'error', listener: (cause?: unknown) => void): unknown;
  off(event: 'drain' | 'error', listener: (cause?: unknown) => void): unknown;
  readonly writableEnded: boolean;
}

export interface LambdaContext {
  callbackWaitsForEmptyEventLoop?: boolean;
  getRemainingTimeInMillis?(): number;
}

/** Node runtimes take three parameters for a streaming handler only. */
export type StreamingHandler = (event: unknown, stream: LambdaResponseStream, context: LambdaContext) => Promise<void>;

export interface LambdaRuntime {
  streamifyResponse(handler: StreamingHandler): StreamingHandler;
  HttpResponseStream: {
    /** Arms the prelude (status and headers). It is sent by the first `write`, and by nothing else. */
    from(
      stream: LambdaResponseStream,
      prelude: { statusCode: number; headers: Record<string, string> },
    ): LambdaResponseStream;
  };
}

export function lambdaRuntime(): LambdaRuntime {
  // Accessed as a property: a bundler may rename variables, never this.
  const runtime = (globalThis as unknown as { awslambda?: LambdaRuntime }).awslambda;
  if (runtime === undefined) throw new Error('a streaming handler can only be built inside the Lambda runtime');
  return runtime;
}

/** Up to Node 22 a runtime waits for idle sockets before it takes the next event, and bills for it. */
export function doNotWaitForIdleSockets(context: LambdaContext | undefined): void {
  if (context && 'callbackWaitsForEmptyEventLoop' in context) context.callbackWaitsForEmptyEventLoop = false;
}
