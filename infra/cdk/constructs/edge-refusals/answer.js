// An error of the gateway, written by CloudFront. Plain JavaScript for CloudFront's runtime, which knows neither destructuring nor spread.
// biome-ignore lint/style/useNodejsImportProtocol: CloudFront knows it by this name.
const crypto = require('crypto');

const traceIdShape = /^[A-Za-z0-9._:-]{1,128}$/;

// biome-ignore lint/correctness/noUnusedVariables: The functions below this text call it.
function answer(refusal, event) {
  // An id of the form that the gateway gives: the time, then what no other request has.
  const own = crypto.createHash('sha256').update(event.context.requestId).digest('hex');
  const time = `000000000000${Date.now().toString(16)}`.slice(-12);
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7${own.slice(0, 3)}-8${own.slice(3, 6)}-${own.slice(6, 18)}`;
  const headers = event.request.headers;
  const trace = headers['x-gw-trace-id'];
  const isOpenAi = headers['x-gw-error-format'] !== undefined && headers['x-gw-error-format'].value === 'openai';
  const error = isOpenAi ? openAiError(refusal) : refusal.error;
  const sent = {
    'content-type': { value: 'application/json' },
    'cache-control': { value: 'no-store' },
    'x-request-id': { value: id },
    'x-gw-trace-id': { value: trace !== undefined && traceIdShape.test(trace.value) ? trace.value : own.slice(0, 32) },
  };
  if (refusal.status === 401) sent['x-should-retry'] = { value: 'false' };
  return {
    statusCode: refusal.status,
    statusDescription: refusal.status === 401 ? 'Unauthorized' : 'Not Found',
    headers: sent,
    body: JSON.stringify({ error: error, message: refusal.message, correlation_id: id }),
  };
}

function openAiError(refusal) {
  const type = refusal.status === 401 ? 'authentication_error' : 'invalid_request_error';
  return { message: refusal.message, type: type, code: refusal.error, param: null };
}
