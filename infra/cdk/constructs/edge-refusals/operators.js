// Runs before the origin of the console and of the management interface: answers what the operator function would refuse without
// reading anything, in its words. The construct writes `settings` before this text: `pageFiles`, the names of the files of the
// page, `signsIn`, whether people sign in here, and `credentialRefusal`, the function's own message; and answer.js.

const key = /^bearer +sk-gw-[0-9A-Za-z]{16}-[0-9A-Za-z]{49}$/i;
const token = /^bearer +[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/i;

const refusals = {
  credential: { status: 401, error: 'UNAUTHORIZED', message: settings.credentialRefusal },
  absent: { status: 404, error: 'not_found', message: 'The console has no such file.' },
};

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it.
function handler(event) {
  const request = event.request;
  const refusal = request.uri.indexOf('/console') === 0 ? refusePath(request.uri) : refuseCredential(request.headers);
  return refusal === undefined ? request : answer(refusal, event);
}

function refusePath(uri) {
  if (uri === '/console' || uri === '/console/') return undefined;
  return settings.pageFiles.some((name) => uri === `/console/${name}`) ? undefined : refusals.absent;
}

function refuseCredential(headers) {
  const sent = headers.authorization;
  const isOne = sent !== undefined && (sent.multiValue === undefined || sent.multiValue.length === 1);
  const isKnown = isOne && (key.test(sent.value) || (settings.signsIn && token.test(sent.value)));
  return isKnown ? undefined : refusals.credential;
}
