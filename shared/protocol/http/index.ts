export type { AdapterDependencies } from './adapter.ts';
export { type Correlation, type ReadCorrelation, readCorrelation } from './correlation.ts';
export type {
  Gateway,
  GatewayRequest,
  GatewayResponse,
  HeaderValues,
  RequestBody,
  RequestContext,
} from './exchange.ts';
export { internalErrorAnswer } from './internal-error.ts';
export { type BufferedAnswer, type BufferedHandler, createBufferedHandler } from './lambda-buffered.ts';
export { toGatewayRequest } from './lambda-event.ts';
export type { LambdaContext, LambdaResponseStream, LambdaRuntime, StreamingHandler } from './lambda-runtime.ts';
export { createStreamingHandler } from './lambda-streaming.ts';
export { createNodeServer, type NodeServer } from './node-server.ts';
export { comesThroughEdge } from './origin-secret.ts';
export { guardProcess, type RejectionSource } from './process-guard.ts';
