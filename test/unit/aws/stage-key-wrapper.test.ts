import { afterEach, describe, expect, it } from '#jest';
import { stageKeyWrapper } from '../../../infra/cli/target/key-wrappers.ts';
import { awsAccess } from '../../../shared/storage/aws-clients/index.ts';
import { answer, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.ts';
import { awsIdentity } from './support.ts';

const former = { ...process.env };
let server: ScriptedServer;
afterEach(async () => {
  process.env = { ...former };
  await server.stop();
});

describe('the key wrapper of the command line', () => {
  it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_KMS'])('calls the KMS that %s names', async (variable) => {
    const dataKey = { Plaintext: Buffer.alloc(32, 1).toString('base64'), CiphertextBlob: 'c2VhbGVk' };
    server = await startScriptedServer([answer(dataKey)]);
    process.env[variable] = server.endpoint;
    const wrapper = stageKeyWrapper(awsAccess({ region: 'eu-west-1', credentials: async () => awsIdentity }), 'dev');
    const { clear } = await wrapper.createDataKey({ workspace: 'team', connection: 'acme', stage: 'dev' });
    expect(clear).toEqual(Buffer.alloc(32, 1));
    expect(server.operations()).toEqual(['GenerateDataKey']);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ KeyId: expect.stringContaining('dev') });
  });
});
