export { errorColumns, errorRows, errorsPage } from './error-responses.ts';
export { parameters } from './headers.ts';
export { defaultServerUrl, openApiDocument, servedDescription } from './openapi-document.ts';
export { memberDescriptions } from './request-body.ts';
