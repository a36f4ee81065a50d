// An identity provider that signs any token that a test needs, valid or not.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createFaultScript } from './fault-script.ts';

export const clientId = 'gw-console';

export interface IdentityProvider {
  readonly issuer: string;
  /** Requests for its documents since the start. */
  readonly requests: string[];
  /** Contents that are served in place of a document, by its path. `hang` means that no answer is sent. */
  readonly replaced: Pick<Map<string, string | 'hang'>, 'set' | 'clear'>;
  /** Returns the token of a person whose e-mail address is verified. Claims that are undefined are omitted. */
  token(claims: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Rejects if a replaced document was never asked for. */
  stop(): Promise<void>;
}

export const discoveryPath = '/.well-known/openid-configuration';
export const keysPath = '/keys';

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] });
  const requests: string[] = [];
  const script = createFaultScript('an identity provider');
  const replaced = new Map<string, string>();
  let issuer = '';
  const discovery = () =>
    JSON.stringify({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: issuer + keysPath,
    });
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    script.markSent(url);
    const text = replaced.get(url) ?? (url === keysPath ? keys : discovery());
    if (text !== 'hang') response.setHeader('content-type', 'application/json').end(text);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    requests,
    replaced: {
      set(path, text) {
        script.script(path);
        return replaced.set(path, text);
      },
      clear: () => replaced.clear(),
    },
    token(claims, header) {
      const nowSeconds = Math.floor(systemClock.nowMs() / 1_000);
      const times = { iat: nowSeconds, exp: nowSeconds + 600 };
      const payload = { iss: issuer, aud: clientId, ...times, email_verified: true, ...claims };
      return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header }).sign(privateKey);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      script.check();
    },
  };
}
