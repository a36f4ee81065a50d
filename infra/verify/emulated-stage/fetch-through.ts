// Calls of names that only the emulator knows: those of distributions and function URLs.
import { request as httpRequest } from 'node:http';

/** A `fetch` that sends every request to the emulator, with the host it was meant for in its header. */
export const fetchThrough =
  (emulatorUrl: string): typeof fetch =>
  (url, init = {}) =>
    new Promise((resolve, reject) => {
      const { host, pathname, search } = new URL(String(url));
      const { hostname, port } = new URL(emulatorUrl);
      const headers = { ...(init.headers as Record<string, string>), host, 'x-forwarded-proto': 'https' };
      const { method = 'GET', signal } = init;
      const options = { hostname, port, path: `${pathname}${search}`, method, headers, ...(signal ? { signal } : {}) };
      const request = httpRequest(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => void chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0 } = response;
          resolve(new Response(Buffer.concat(chunks), { status, headers: new Headers(response.headers as never) }));
        });
      });
      request.on('error', reject);
      request.end(init.body as string | undefined);
    });
