// Exports the requests for stored responses. Loaded with the first of them.
export { serveStoredResponse } from './serve-stored-response.ts';
