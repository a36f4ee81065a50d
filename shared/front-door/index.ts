export type { Afterwards } from './afterwards.ts';
export {
  createFrontDoor,
  type Endpoint,
  type FrontDoorDependencies,
  type Routes,
  toGatewayError,
} from './front-door.ts';
export type { Learnt, RequestScope } from './request-scope.ts';
