import { createHash, createHmac } from 'node:crypto';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { awsAccess, createSha256 } from '../../../shared/storage/aws-clients/index.ts';
import { createDynamoClient, createDynamoStore } from '../../../shared/storage/store/index.ts';
import { answer, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.ts';
import { awsIdentity } from './support.ts';

describe('a command to DynamoDB', () => {
  const former = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer([answer({})]);
    process.env.AWS_ENDPOINT_URL_DYNAMODB = server.endpoint;
  });
  afterAll(async () => {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = former ?? '';
    await server.stop();
  });

  it('carries the signature that the plain signer of the SDK makes over the same request, each time', async () => {
    const region = 'eu-west-1';
    const client = createDynamoClient(awsAccess({ region, credentials: async () => awsIdentity, clock: systemClock }));
    const store = createDynamoStore({ client, stage: 'dev' });
    for (const pk of ['first', 'second']) await store.put({ table: 'keys', item: { pk } });
    client.destroy();
    const plain = new SignatureV4({ service: 'dynamodb', region, credentials: awsIdentity, sha256: Sha256 });
    expect(server.requests).toHaveLength(2);
    for (const { headers, body } of server.requests) {
      const { authorization = '', connection: _hopByHop, ...sent } = headers as Record<string, string>;
      const signedNames = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
      expect(signedNames).toEqual(
        expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target']),
      );
      const request = {
        method: 'POST',
        protocol: 'http:',
        hostname: '127.0.0.1',
        path: '/',
        query: {},
        headers: Object.fromEntries(signedNames.map((name) => [name, sent[name] ?? ''])),
        body,
      };
      const signingDate = new Date((sent['x-amz-date'] ?? '').replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'));
      const { headers: expected } = await plain.sign(request, { signingDate });
      expect(authorization).toBe(expected.authorization);
    }
  });
});

describe('the hash of the signer', () => {
  const secrets = fc.oneof(fc.string(), fc.uint8Array());

  it('is SHA-256 of all that came, and HMAC where there is a secret, used again or not', () => {
    const OwnSha256 = createSha256();
    return fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.string(), fc.uint8Array())), fc.option(secrets), async (parts, secret) => {
        for (let use = 1; use <= 2; use += 1) {
          const own = secret === null ? new OwnSha256() : new OwnSha256(secret);
          const known = secret === null ? createHash('sha256') : createHmac('sha256', secret);
          for (const part of parts) {
            own.update(part);
            known.update(part);
          }
          expect(Buffer.from(await own.digest()).toString('hex')).toBe(known.digest('hex'));
        }
      }),
    );
  });
});
