// Preloaded into `npm run deploy`, which calls the stage at the address of its clients: names that only the emulator
// resolves are called there, with the host in the header.
'use strict';
const { request } = require('node:http');

const { fetch: fetchDirectly } = globalThis;
const emulator = new URL(process.env.AWS_ENDPOINT_URL);

globalThis.fetch = (url, init = {}) => {
  const { host, hostname, pathname, search } = new URL(url);
  if (hostname === emulator.hostname) return fetchDirectly(url, init);
  return new Promise((resolve, reject) => {
    const headers = { ...init.headers, host, 'x-forwarded-proto': 'https' };
    const options = { hostname: emulator.hostname, port: emulator.port, path: pathname + search, headers };
    const sent = request({ ...options, method: init.method ?? 'GET', signal: init.signal }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode })));
    });
    sent.on('error', reject);
    sent.end();
  });
};
