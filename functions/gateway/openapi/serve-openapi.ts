// GET /openapi.json. The document is loaded with the first request for it: calls do not need it.
import { okStatus } from '../../../shared/errors/index.ts';
import { type Endpoint, jsonHeaders } from '../../../shared/protocol/router/index.ts';

let text: string | undefined;

/** Needs no key: the document is the same for every caller. */
export const serveOpenApi: Endpoint = async () => {
  const { openApiDocument } = await import('./openapi-document.ts');
  // Relative to the document itself: behind the distribution the gateway does not know its own address.
  text ??= JSON.stringify(openApiDocument('/'));
  return { status: okStatus, headers: jsonHeaders, body: text };
};
