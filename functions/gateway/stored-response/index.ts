// Exports the requests for stored responses. Loaded with the first request for a stored response.
export { serveStoredResponse } from './serve-stored-response.ts';
