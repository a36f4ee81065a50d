import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTables } from '../../infra/local/create-tables.ts';
import { createDynamoClient } from '../../shared/storage/store/index.ts';
import { operateProcess } from './child-processes.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';

/** Secrets Manager as far as the operator needs it. */
let secretText: string | undefined;
const writes: string[] = [];
let secrets: Server;
let local: LocalStore;
/** As a shell that is signed in: a profile in the files that every AWS tool reads, no keys in the environment. */
let variables: Record<string, string>;

beforeAll(async () => {
  local = await startLocalStore();
  secrets = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const { SecretId, SecretString } = JSON.parse(text) as { SecretId: string; SecretString?: string };
    const isThere = SecretId === 'gw/dev/providers' && secretText !== undefined;
    if (isThere && SecretString !== undefined) {
      secretText = SecretString;
      writes.push(SecretString);
    }
    response.writeHead(isThere ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(isThere ? { SecretString: secretText } : { __type: 'ResourceNotFoundException' }));
  }).listen(0, '127.0.0.1');
  await once(secrets, 'listening');
  const secretsUrl = `http://127.0.0.1:${(secrets.address() as AddressInfo).port}`;
  variables = {
    AWS_PROFILE: 'operator',
    AWS_CONFIG_FILE: local.write('config', '[profile operator]\nregion = us-east-1\n'),
    AWS_SHARED_CREDENTIALS_FILE: local.write(
      'credentials',
      '[operator]\naws_access_key_id = local\naws_secret_access_key = local\n',
    ),
    AWS_ENDPOINT_URL_DYNAMODB: local.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsUrl,
  };
  const client = createDynamoClient({ endpoint: local.url });
  await createTables(client, 'dev');
  client.destroy();
});
afterAll(async () => {
  secrets.close();
  await local.stop();
});
afterEach(() => {
  secretText = undefined;
  writes.length = 0;
});

const gw = (line: string, input = '') => operateProcess(line, { folder: local.folder, input, variables });
const credential = 'provider-key-0123456789';

describe('a stage', () => {
  it('is worked on with the profile of the shell, and no other stage is touched', async () => {
    const file = local.write('gateway.yaml', gatewayFile());
    expect((await gw(`apply -f ${file} --stage dev`)).out).toContain('3 created');
    expect((await gw('keys list --stage dev')).out).toMatch(/^team +ci /m);
    const other = await gw(`apply -f ${file} --stage prod`);
    expect(other).toMatchObject({ code: 1, out: '', error: expect.stringContaining('stage prod has no tables') });
    expect((await gw('status --stage prod')).out).toMatch(/gw-prod-config +missing/);
  });

  it('without credentials is one line, exit 1', async () => {
    const { code, out, error } = await operateProcess('keys list --stage dev', {
      folder: local.folder,
      variables: { AWS_REGION: 'eu-west-1', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' },
    });
    expect([code, out]).toEqual([1, '']);
    expect(error).toMatch(/^gw keys list: no AWS credentials: .*\n$/);
  });
});

describe('credentials set', () => {
  it('puts the credential into the secret of the stage, beside the others, and never prints it', async () => {
    secretText = '{"other":"stays"}';
    const { code, out, error } = await gw('credentials set acme --stage dev', `${credential}\n`);
    expect(code).toBe(0);
    expect(JSON.parse(writes[0] ?? '')).toEqual({ other: 'stays', acme: credential });
    expect(out).toContain('credential acme of stage dev: created');
    expect(out + error).not.toContain(credential);
  });

  it('writes nothing where it stands already', async () => {
    secretText = JSON.stringify({ acme: credential });
    const { code, out } = await gw('credentials set acme --stage dev', credential);
    expect([code, out]).toEqual([0, expect.stringContaining('unchanged')]);
    expect(writes).toEqual([]);
  });

  it('replaces one only with --yes', async () => {
    secretText = '{"acme":"the-former-one"}';
    const refused = await gw('credentials set acme --stage dev', credential);
    expect(refused).toMatchObject({ code: 2, error: expect.stringContaining('pass --yes') });
    expect(writes).toEqual([]);
    expect((await gw('credentials set acme --stage dev --yes', credential)).code).toBe(0);
    expect(writes).toEqual([JSON.stringify({ acme: credential })]);
    expect(refused.error).not.toMatch(/the-former-one|provider-key/);
  });

  it.each([
    ['nothing', '', '{}', 'standard input must hold the credential'],
    ['two lines', `${credential}\nmore\n`, '{}', 'standard input must hold the credential'],
    ['a secret that is no object', credential, 'sk-raw-text', 'does not hold a JSON object'],
    ['a stage without its secret', credential, undefined, 'there is no secret gw/dev/providers'],
  ])('refuses %s, writes nothing and repeats nothing', async (_name, input, stored, reason) => {
    secretText = stored;
    const { code, out, error } = await gw('credentials set acme --stage dev', input);
    expect([code, out]).toEqual([1, '']);
    expect(error).toContain(reason);
    expect(error).not.toMatch(/provider-key|sk-raw/);
    expect(writes).toEqual([]);
  });
});
