import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { createTables } from '../../infra/local/create-tables.ts';
import { createDynamoClient } from '../../shared/storage/store/index.ts';
import { type AwsServices, account, startAwsServices } from './aws-services.ts';
import { operateProcess } from './child-processes.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate } from './operator.ts';

const secretName = 'gw/dev/providers';
let aws: AwsServices;
let local: LocalStore;
/** As a shell that is signed in: a profile in the files that every AWS tool reads, no keys in the environment. */
let variables: Record<string, string>;

beforeAll(async () => {
  local = await startLocalStore();
  aws = await startAwsServices(local.url);
  const { AWS_ACCESS_KEY_ID: _id, AWS_SECRET_ACCESS_KEY: _key, AWS_REGION: _region, ...shell } = aws.variables;
  variables = {
    ...shell,
    AWS_PROFILE: 'operator',
    AWS_CONFIG_FILE: local.write('config', '[profile operator]\nregion = us-east-1\n'),
    AWS_SHARED_CREDENTIALS_FILE: local.write(
      'credentials',
      '[operator]\naws_access_key_id = local\naws_secret_access_key = local\n',
    ),
  };
  const client = createDynamoClient({ endpoint: local.url });
  await createTables(client, 'dev');
  client.destroy();
  Object.assign(process.env, variables);
});
afterAll(async () => {
  for (const name of Object.keys(variables)) delete process.env[name];
  await Promise.all([aws.stop(), local.stop()]);
});
afterEach(() => {
  aws.secrets.clear();
  aws.secretWrites.length = 0;
});

const gw = (line: string, standardInput = '') => operate(line, { standardInput });
/** As a shell runs it: what it reads and prints goes through pipes. */
const gwProcess = (line: string, input = '') => operateProcess(line, { folder: local.folder, input, variables });
const credential = 'provider-key-0123456789';

describe('a stage', () => {
  it('is worked on with the profile of the shell, and no other stage is touched', async () => {
    const file = local.write('gateway.yaml', gatewayFile());
    const applied = await gwProcess(`apply -f ${file} --stage dev`);
    expect([applied.error, applied.out]).toEqual([
      `stage dev: account ${account}, region us-east-1\n`,
      expect.stringContaining('3 created'),
    ]);
    expect((await gw('keys list --stage dev')).out).toMatch(/^team +ci /m);
    const other = await gw(`apply -f ${file} --stage prod`);
    expect(other).toMatchObject({ code: 1, out: '', error: expect.stringContaining('stage prod has no tables') });
    expect((await gw('status --stage prod')).out).toMatch(/gw-prod-config +missing/);
  });

  it('tells which credentials its secret lacks when a file is applied, and in its status; and never what is in it', async () => {
    const lacking = { id: 'initech', base_url: 'http://127.0.0.1:9/v1', auth: { bearer: { env: 'INITECH_API_KEY' } } };
    const { providers, ...rest } = gatewayFile();
    const model = { ...rest.models[0], providers: [{ ...rest.models[0]?.providers[0], provider: 'initech' }] };
    const file = local.write('lacking.yaml', { ...rest, providers: [...providers, lacking], models: [model] });
    const apply = async () => (await gw(`apply -f ${file} --stage dev --yes`)).out;
    const state = async () => /initech +(no credential|unused)/.exec((await gw('status --stage dev')).out)?.[1];
    aws.secrets.set(secretName, JSON.stringify({ other: credential }));
    expect(await apply()).toContain(
      'warning: provider initech has no credential, no call goes there: INITECH_API_KEY is not stored: npm run gw -- credentials set INITECH_API_KEY --stage dev',
    );
    expect(await state()).toBe('no credential');
    aws.secrets.set(secretName, JSON.stringify({ INITECH_API_KEY: credential }));
    expect(await apply()).not.toContain('warning');
    expect(await state()).toBe('unused');
    aws.secrets.clear();
    const unknown = await apply();
    expect(unknown).toContain(
      'warning: credentials of providers could not be looked at: there is no secret gw/dev/providers',
    );
    expect(unknown).not.toContain(credential);
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
    aws.secrets.set(secretName, '{"other":"stays"}');
    const { code, out, error } = await gwProcess('credentials set acme --stage dev', `${credential}\n`);
    expect(code).toBe(0);
    expect(JSON.parse(aws.secretWrites[0] ?? '')).toEqual({ other: 'stays', acme: credential });
    expect(out).toContain('credential acme of stage dev: created');
    expect(out + error).not.toContain(credential);
  });

  it('takes the JSON of a service account with its lines and blanks', async () => {
    aws.secrets.set(secretName, '{}');
    const account = JSON.stringify({ client_email: 'a@b.example', private_key: '-----BEGIN\nKEY-----\n' }, null, 2);
    expect((await gw('credentials set vertex --stage dev', `${account}\n`)).code).toBe(0);
    expect(JSON.parse(aws.secretWrites[0] ?? '')).toEqual({ vertex: account });
  });

  it('writes nothing where it stands already', async () => {
    aws.secrets.set(secretName, JSON.stringify({ acme: credential }));
    const { code, out } = await gw('credentials set acme --stage dev', credential);
    expect([code, out]).toEqual([0, expect.stringContaining('unchanged')]);
    expect(aws.secretWrites).toEqual([]);
  });

  it('replaces one only with --yes', async () => {
    aws.secrets.set(secretName, '{"acme":"the-former-one"}');
    const refused = await gw('credentials set acme --stage dev', credential);
    expect(refused).toMatchObject({ code: 2, error: expect.stringContaining('pass --yes') });
    expect(aws.secretWrites).toEqual([]);
    expect((await gw('credentials set acme --stage dev --yes', credential)).code).toBe(0);
    expect(aws.secretWrites).toEqual([JSON.stringify({ acme: credential })]);
    expect(refused.error).not.toMatch(/the-former-one|provider-key/);
  });

  it.each([
    ['nothing', '', '{}', 'standard input must hold the credential'],
    ['two lines', `${credential}\nmore\n`, '{}', 'standard input must hold the credential'],
    ['a secret that is no object', credential, 'sk-raw-text', 'does not hold a JSON object'],
    ['a stage without its secret', credential, undefined, 'there is no secret gw/dev/providers'],
  ])('refuses %s, writes nothing and repeats nothing', async (_name, input, stored, reason) => {
    if (stored !== undefined) aws.secrets.set(secretName, stored);
    const { code, out, error } = await gw('credentials set acme --stage dev', input);
    expect([code, out]).toEqual([1, '']);
    expect(error).toContain(reason);
    expect(error).not.toMatch(/provider-key|sk-raw/);
    expect(aws.secretWrites).toEqual([]);
  });
});
