// Requests for stored responses: loaded with the first one.
export { serveStoredResponse } from './serve-stored-response.ts';
