export { jsonSchemaOf } from './bodies.ts';
export { type DocumentName, type Documents, documents } from './managed-documents.ts';
export { managementRoutes, type RouteName, routeNames } from './management-routes.ts';
export type { ManagementRoute } from './route-form.ts';
export * from './route-types.ts';
