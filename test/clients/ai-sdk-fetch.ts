import { APICallError } from 'ai';

export const gatewayFetch: typeof fetch = async (url, init) => {
  const response = await fetch(url, init);
  if (response.ok || response.headers.get('content-type') !== 'application/json') return response;
  const [statusCode, responseBody] = [response.status, await response.text()];
  const data = JSON.parse(responseBody) as {
    error: string | { code: string };
    message: string;
    correlation_id: string;
  };
  const message = `${typeof data.error === 'string' ? data.error : data.error.code}: ${data.message}`;
  const responseHeaders = Object.fromEntries(response.headers);
  const isRetryable = (responseHeaders['x-should-retry'] ?? String(statusCode === 429 || statusCode >= 500)) === 'true';
  const call = { url: String(url), requestBodyValues: init?.body, statusCode, responseHeaders, responseBody };
  throw new APICallError({ ...call, message, data, isRetryable });
};
