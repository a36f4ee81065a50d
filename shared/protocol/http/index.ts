export { type Correlation, correlationShapes, readCorrelation } from './correlation.ts';
export type {
  AdapterDependencies,
  BodyPart,
  Gateway,
  GatewayRequest,
  GatewayResponse,
  HeaderValues,
  RequestContext,
} from './exchange.ts';
export { schemeOf } from './exchange.ts';
export { toGatewayRequest } from './lambda-event.ts';
export { createBufferedHandler, createStreamingHandler } from './lambda-handlers.ts';
export { createNodeServer, type NodeServer } from './node-server.ts';
export { anyOrigin, createOriginCheck, type OriginCheck } from './origin-check.ts';
export { readPlainBody } from './plain-body.ts';
export { guardProcess } from './process-guard.ts';
