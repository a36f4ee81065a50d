export type { Afterwards } from './afterwards.ts';
export type { Learnt, RequestScope } from './request-scope.ts';
export {
  createFrontDoor,
  type Endpoint,
  type FrontDoorDependencies,
  type Routes,
  toGatewayError,
} from './router.ts';
