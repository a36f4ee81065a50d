export { defaultServerUrl, openApiDocument } from './document.ts';
export { errorColumns, errorRows, errorsPage } from './error-responses.ts';
export { parameters } from './headers.ts';
export { memberDescriptions } from './request-body.ts';
export { serveOpenApi } from './serve-openapi.ts';
