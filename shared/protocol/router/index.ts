export type { DeferredTasks } from './deferred-tasks.ts';
export { modelListRules } from './model-list-rules.ts';
export type { CallDetails, GuardrailCheck } from './request-details.ts';
export type { RequestScope } from './request-scope.ts';
export { jsonHeaders, streamHeaders } from './root-endpoints.ts';
export type { Endpoint, RouteRules } from './route-table.ts';
export { createRouter, type RouterDependencies, toGatewayError } from './router.ts';
