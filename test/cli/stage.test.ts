import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import { commandsIn, fullName } from '../../infra/cli/args/command-line.ts';
import { createProgram } from '../../infra/cli/args/run.ts';
import type { PolicyStatement } from '../../infra/cli/commands/policy.ts';
import type { Simulator } from '../../infra/local/simulator/index.ts';
import { type CallRecord, createCallRecords } from '../../shared/accounting/call-records/index.ts';
import { writeContent } from '../../shared/accounting/content-log/index.ts';
import { systemRandomness, uuidv7 } from '../../shared/foundation/ids/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/dynamodb-store/index.ts';
import { callRecord } from '../support/call-record.ts';
import { describeOnDynamo } from '../support/dynamodb.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { startTestSimulator } from '../support/test-simulator.ts';
import { type AwsServices, account, startAwsServices } from './aws-services.ts';
import { operateProcess } from './child-processes.ts';
import { gatewayFile, startStageServer } from './local-store.ts';
import { type OperatorOptions, operate, type Result } from './operator.ts';

describeOnDynamo('a stage of AWS', () => {
  const secretName = 'gw/dev/providers';
  let aws: AwsServices;
  let local: Awaited<ReturnType<typeof startStageServer>>;
  /**
   * The variables of a signed-in shell: a profile in the files that every AWS tool reads, no keys in the environment.
   */
  let variables: Record<string, string>;

  beforeAll(async () => {
    local = await startStageServer('dev');
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
  /** Runs a line in a shell: its input and output go through pipes. */
  const gwProcess = (line: string, input = '') => operateProcess(line, { folder: local.folder, input, variables });
  const credential = 'provider-key-0123456789';

  describe('a stage', () => {
    it('is worked on with the profile of the shell, and no other stage is touched', async () => {
      const file = local.write('gateway.yaml', gatewayFile());
      const applyResult = await gwProcess(`apply -f ${file} --stage dev`);
      expect([applyResult.error, applyResult.out]).toEqual([
        `stage dev: account ${account}, region us-east-1\n`,
        expect.stringContaining('3 created'),
      ]);
      // The key has the id of its stage, by which an edge in front of several stages finds the stage.
      expect(applyResult.out).toMatch(/sk-gw-00[0-9A-Za-z]{14}-/);
      expect((await gw('keys list --stage dev')).out).toMatch(/^team +ci /m);
      const other = await gw(`apply -f ${file} --stage prod`);
      expect(other).toMatchObject({ code: 1, out: '', error: expect.stringContaining('stage prod has no tables') });
      expect((await gw('status --stage prod')).out).toMatch(/gw-prod-config +missing/);
    });

    it('tells which credentials its secret lacks when a file is applied, and in its status; and never what is in it', async () => {
      const lacking = {
        id: 'initech',
        base_url: 'http://127.0.0.1:9/v1',
        auth: { bearer: { env: 'INITECH_API_KEY' } },
      };
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

    it('writes nothing if the value is there already', async () => {
      aws.secrets.set(secretName, JSON.stringify({ acme: credential }));
      const { code, out } = await gw('credentials set acme --stage dev', credential);
      expect([code, out]).toEqual([0, expect.stringContaining('unchanged')]);
      expect(aws.secretWrites).toEqual([]);
    });

    it('replaces one only with --yes', async () => {
      aws.secrets.set(secretName, '{"acme":"the-former-one"}');
      const refusal = await gw('credentials set acme --stage dev', credential);
      expect(refusal).toMatchObject({ code: 2, error: expect.stringContaining('pass --yes') });
      expect(aws.secretWrites).toEqual([]);
      expect((await gw('credentials set acme --stage dev --yes', credential)).code).toBe(0);
      expect(aws.secretWrites).toEqual([JSON.stringify({ acme: credential })]);
      expect(refusal.error).not.toMatch(/the-former-one|provider-key/);
    });

    it.each([
      ['nothing', '', '{}', 'standard input must hold the credential'],
      ['two lines', `${credential}\nmore\n`, '{}', 'standard input must hold the credential'],
      ['a secret that is no object', credential, 'sk-raw-text', 'does not hold a JSON object'],
      ['a stage without its secret', credential, undefined, 'there is no secret gw/dev/providers'],
    ])('refuses %s, writes nothing and repeats nothing', async (_name, input, storedValue, reason) => {
      if (storedValue !== undefined) aws.secrets.set(secretName, storedValue);
      const { code, out, error } = await gw('credentials set acme --stage dev', input);
      expect([code, out]).toEqual([1, '']);
      expect(error).toContain(reason);
      expect(error).not.toMatch(/provider-key|sk-raw/);
      expect(aws.secretWrites).toEqual([]);
    });
  });
});

// Compares the calls of the command line with the policy that it prints: a missing permission would show only on AWS, a
// superfluous one not at all.
describeOnDynamo('policies', () => {
  const announced = `stage dev: account ${account}, region eu-west-1`;
  const secret = 'gw/dev/providers';

  let simulator: Simulator;
  let receiver: ScriptedServer;
  let local: Awaited<ReturnType<typeof startStageServer>>;
  let aws: AwsServices;
  beforeAll(async () => {
    [local, simulator, receiver] = await Promise.all([
      startStageServer('dev'),
      startTestSimulator(),
      startScriptedServer([{ status: 204, body: '' }]),
    ]);
    aws = await startAwsServices(local.url);
    aws.secrets.set(secret, '{}');
    Object.assign(process.env, aws.variables);
  });
  afterAll(async () => {
    for (const name of Object.keys(aws.variables)) delete process.env[name];
    await Promise.all([aws.stop(), local.stop(), simulator.stop(), receiver.stop()]);
  });

  /** The commands that ran, with their outputs and their calls. */
  const runs: { line: string; result: Result; actions: readonly string[] }[] = [];

  async function gw(line: string, circumstances: OperatorOptions = {}): Promise<Result> {
    const before = aws.calls.length;
    const result = await operate(`${line} --stage dev`, { variables: { ACME_BYOK: 'the-key' }, ...circumstances });
    if (result.code !== 0) throw new Error(`${line} ended with ${result.code}: ${result.error}`);
    runs.push({ line, result, actions: aws.calls.slice(before).map(({ action }) => action) });
    return result;
  }

  /** Stores the record of a call with its bodies, as the gateway of the stage does. */
  async function storeCall(): Promise<CallRecord> {
    const client = createDynamoClient({ endpoint: local.url });
    const store = createDynamoStore({ client, stage: 'dev' });
    const arrivedAtMs = systemClock.nowMs();
    const executionId = uuidv7(systemRandomness, arrivedAtMs);
    const content = { state: 'kept', keep: '7d', cut: false } as const;
    const record = callRecord({ workspace: 'team', arrivedAtMs, executionId, content });
    await createCallRecords({ store }).write(record);
    client.destroy();
    const { executionId: id, workspace } = record;
    const put = async (key: string, bytes: Uint8Array) =>
      void aws.objects.set(`gw-dev-spill-${account}-eu-west-1/${key}`, bytes);
    await writeContent({ put }, '7d', { id, workspace, cut: false, request: '{}', answer: null, sent: [] }, {});
    return record;
  }

  /** Runs every command, on a stage with one workspace, key, function and so on. */
  async function runEveryCommand(): Promise<void> {
    const functions = [
      {
        id: 'echo',
        kind: 'prompt',
        revisions: [
          {
            id: 'r1',
            model: 'acme/small',
            messages: [{ role: 'user', content: '{{input}}' }],
            cases: [{ input: 'apples', expect: { contains: 'apples' } }],
          },
        ],
      },
    ];
    const byok = { connections: [{ provider: 'acme', key: { env: 'ACME_BYOK' }, policy: 'allowed' }] };
    const workspace = { functions, byok, features: { byok: true } };
    const service = { alerts: { url: { secret: 'HOOK' }, at: [80] } };
    const fileOf = (price: string) => local.write('gateway.yaml', { ...gatewayFile({ price, workspace }), service });
    const { out } = await gw(`apply -f ${fileOf('0.25')}`);
    const key = /sk-gw-\S+/.exec(out)?.[0] ?? '';
    await gw(`apply -f ${fileOf('0.30')} --dry-run`);
    await gw(`apply -f ${fileOf('0.30')}`);
    const created = JSON.parse((await gw('keys create --workspace team --name x --spend-limit 1 --json')).out);
    await gw(`keys update ${created.public_id} --rpm 5`);
    await gw('keys rotate x --workspace team');
    await gw(`keys revoke ${created.public_id} --yes`);
    const operator = JSON.parse((await gw('operators create --name x --json')).out);
    await gw('operators list');
    await gw(`operators revoke ${operator.public_id} --yes`);
    await gw('workspaces create made --credit 1');
    await gw('workspaces update made --concurrency 5');
    await gw('workspaces list');
    await gw('workspaces show made');
    await gw('credits add team 5');
    await gw('credits add team -1');
    await gw('functions list');
    await gw('functions show team echo --revision r1');
    // The simulator answers like a gateway, which is enough here.
    const url = `${simulator.urlOf('acme')}/v1`;
    await gw(`functions qualify team echo r1 --url ${url}`, { variables: { GW_API_KEY: key } });
    const text = { model: 'acme/small', messages: [{ role: 'user', content: 'Say {{input}}' }] };
    await gw(`functions publish team echo ${local.write('r2.yaml', JSON.stringify(text))} --revision r2`);
    await gw('functions compare team echo r1 r2');
    await gw('functions activate team echo r1');
    await gw('functions disable team echo --yes');
    await gw('functions enable team echo');
    await gw('credentials set acme', { standardInput: 'provider-key' });
    await gw('credentials set HOOK', { standardInput: receiver.endpoint });
    await gw('providers list');
    await gw('providers disable acme');
    await gw('providers enable acme');
    await gw('keys list');
    await gw('keys reconcile --from none');
    await gw('pause --yes');
    await gw('resume');
    await gw('credits show');
    await gw('credits history team');
    await gw('usage --by key');
    await gw('calls');
    const { executionId, correlationId } = await storeCall();
    await gw(`calls show ${correlationId}`);
    await gw(`calls show ${executionId} --content`);
    await gw('alerts test');
    await gw('status');
    await gw('models list --search a');
    await gw('models diff');
    await gw('models update --dry-run');
    await gw('models update');
    await gw('export');
  }

  describe('the policy of a stage', () => {
    let statements: readonly PolicyStatement[];
    beforeAll(async () => {
      await runEveryCommand();
      const { out } = await operate('policy --stage dev --json');
      ({ Statement: statements } = JSON.parse(out) as { Statement: PolicyStatement[] });
    });

    it('allows what the commands call, each on its own resource, and nothing else', () => {
      const laterCalls = aws.calls.filter(({ action }) => action !== 'sts:GetCallerIdentity');
      const allowed = statements.flatMap(({ Action, Resource }) =>
        Action.flatMap((action) => Resource.map((resource) => `${action} ${resource}`)),
      );
      // An update is sent alone, or with other simultaneous updates as a statement.
      const needed = laterCalls.flatMap(({ action, resource }) =>
        (action === 'dynamodb:UpdateItem' ? [action, 'dynamodb:PartiQLUpdate'] : [action]).map(
          (right) => `${right} ${arnOf(action, resource)}`,
        ),
      );
      expect(new Set(allowed)).toEqual(new Set(needed));
      expect(new Set(allowed).size).toBe(allowed.length);
    });

    it('opens no other key than the one that seals connections', () => {
      const keys = statements.filter(({ Action }) => Action.some((action) => action.startsWith('kms:')));
      expect(keys).toMatchObject([
        { Condition: { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': 'alias/gw-dev-connections' } } },
      ]);
      expect(
        new Set(aws.calls.filter(({ action }) => action.startsWith('kms:')).map(({ resource }) => resource)),
      ).toEqual(new Set(['alias/gw-dev-connections']));
    });

    it('was compared with every command there is', async () => {
      const names = commandsIn(await createProgram(async () => {})).map(fullName);
      const missed = names.filter((name) => !runs.some(({ line }) => line.startsWith(name)));
      // These commands start a gateway on this machine, read a file, and print the policy itself, which calls STS
      // alone.
      expect(missed).toEqual(['start', 'import litellm', 'policy']);
    });
  });

  describe('the policy of a stage without credentials', () => {
    const outside = (line: string, more: Record<string, string> = {}) =>
      operateProcess(line, {
        folder: local.folder,
        variables: { AWS_EC2_METADATA_DISABLED: 'true', AWS_SHARED_CREDENTIALS_FILE: '/dev/null', ...more },
      });
    const arnsIn = (text: string) =>
      (JSON.parse(text) as { Statement: PolicyStatement[] }).Statement.flatMap(({ Resource }) => Resource);

    it('is the same except for the account, which is a *, and the region that the line names', async () => {
      const { code, out, error } = await outside('policy --stage dev --region eu-west-1');
      expect(code).toBe(0);
      expect(error).toBe('note: * stands for an account or a region that neither shell nor settings name\n');
      const signedIn = (await operate('policy --stage dev')).out;
      expect(arnsIn(out)).toEqual(arnsIn(signedIn).map((arn) => arn.replace(account, '*')));
    });
  });

  describe('a stage whose settings name an account and a region', () => {
    const settings = { ...(stageSettings.dev as StageSettings), account: '999999999999', region: 'eu-west-1' };
    beforeAll(() => void Object.assign(stageSettings, { pinned: settings }));
    afterAll(() => void Reflect.deleteProperty(stageSettings, 'pinned'));

    it('is not worked on from another: nothing is read or written there', async () => {
      const before = aws.calls.length;
      for (const line of ['keys list', 'credits add team 1', 'policy', 'status']) {
        const { code, out, error } = await operate(`${line} --stage pinned`);
        expect({ line, code, out }).toEqual({ line, code: 1, out: '' });
        expect(error).toContain(
          `stage pinned belongs to account 999999999999, region eu-west-1 (stage-settings.ts); this shell is in account ${account}`,
        );
      }
      expect(new Set(aws.calls.slice(before).map(({ action }) => action))).toEqual(new Set(['sts:GetCallerIdentity']));
    });

    it('has a policy with the rights on the key that encrypts it, through the services that do', async () => {
      const encryptionKeyArn = `arn:aws:kms:eu-west-1:${account}:key/5c1f6c6e-0b1e`;
      Object.assign(stageSettings, { pinned: { ...settings, account, encryptionKeyArn } });
      const { out } = await operate('policy --stage pinned --json');
      const { Statement: statements } = JSON.parse(out) as { Statement: PolicyStatement[] };
      const [ownStatement, ...others] = statements.filter(({ Resource }) => Resource.includes(encryptionKeyArn));
      expect(others).toEqual([]);
      expect(ownStatement?.Action).toEqual(expect.arrayContaining(['kms:Decrypt', 'kms:GenerateDataKey']));
      const services = ['dynamodb', 's3', 'secretsmanager'].map((name) => `${name}.eu-west-1.amazonaws.com`);
      expect(ownStatement?.Condition).toEqual({ StringLike: { 'kms:ViaService': services } });
    });

    it('is worked on where it is', async () => {
      Object.assign(stageSettings, { pinned: { ...settings, account } });
      expect(await operate('keys list --stage pinned')).toMatchObject({
        code: 1,
        error: expect.stringContaining('stage pinned has no tables'),
      });
      expect((await operate('policy --stage pinned --region eu-west-2')).error).toContain('this shell is in account');
    });
  });

  describe('a stage', () => {
    const isWrite = (action: string) => /:(Put|Update|Delete|Create)|GenerateDataKey/.test(action);

    it('is named with account and region before anything is written, and only then', () => {
      for (const { line, result, actions } of runs) {
        const firstWrite = actions.findIndex(isWrite);
        const identityIndex = actions.indexOf('sts:GetCallerIdentity');
        const isNamed = result.error.split('\n')[0] === announced;
        if (firstWrite !== -1)
          expect({ line, isNamed, before: identityIndex !== -1 && identityIndex < firstWrite }).toMatchObject({
            isNamed: true,
            before: true,
          });
        // The bucket's name contains the account, so the command reads the account and writes nothing.
        else
          expect({ line, isNamed }).toEqual({
            line,
            isNamed: identityIndex !== -1 && !actions.includes('s3:GetObject'),
          });
      }
      expect(runs.filter(({ actions }) => actions.some(isWrite)).length).toBeGreaterThan(9);
    });

    it('is reached with the profile and in the region that the line names', async () => {
      const signersOf = async (line: string) => {
        const before = aws.calls.length;
        const { code, error } = await operate(line);
        return { code, error, signers: [...new Set(aws.calls.slice(before).map(({ signedBy }) => signedBy))] };
      };
      const line = 'credits add team 1 --stage dev';
      const stageLine = (region: string) => `stage dev: account ${account}, region ${region}`;
      const aws_access = 'aws_access_key_id = second-key\naws_secret_access_key = local\n';
      process.env.AWS_CONFIG_FILE = local.write('config', `[profile second]\nregion = us-east-2\n${aws_access}`);
      // The variable has precedence over the region of a profile, as in every AWS tool.
      delete process.env.AWS_REGION;
      expect(await signersOf(`${line} --profile second`)).toEqual({
        code: 0,
        error: stageLine('us-east-2'),
        signers: ['second-key us-east-2'],
      });
      process.env.AWS_REGION = aws.variables.AWS_REGION;
      expect(await signersOf(`${line} --profile second --region ap-southeast-2`)).toEqual({
        code: 0,
        error: stageLine('ap-southeast-2'),
        signers: ['second-key ap-southeast-2'],
      });
      expect(await signersOf(line)).toEqual({ code: 0, error: stageLine('eu-west-1'), signers: ['local eu-west-1'] });
      expect(await signersOf(`${line} --profile nobody`)).toEqual({
        code: 1,
        error: expect.stringContaining('no AWS credentials'),
        signers: [],
      });
    });
  });

  function arnOf(action: string, resource: string): string {
    const service = action.split(':')[0];
    if (service === 's3') return `arn:aws:s3:::${resource.replace(/\/content-.*/, '/content-*')}`;
    const path = { dynamodb: `table/${resource}`, secretsmanager: `secret:${resource}-??????`, kms: 'key/*' }[
      service ?? ''
    ];
    return `arn:aws:${service}:eu-west-1:${account}:${path}`;
  }
});
