import { createHash } from 'node:crypto';
import { describe, expect, it } from '#jest';

interface Answer {
  readonly Status: string;
  readonly PhysicalResourceId: string;
  readonly Data?: { readonly Sha256: string };
}

type Respond = (
  event: object,
  outside: {
    readSecret: (arn: string) => Promise<string>;
    put: (url: string, body: string) => Promise<void>;
    pause: (ms: number) => Promise<void>;
  },
) => Promise<void>;

// Plain JavaScript that Lambda runs as it is: by path, as it has no types.
const source = new URL('../../infra/cdk/constructs/custom-resource/index.mjs', import.meta.url).href;
const { answer } = (await import(source)) as { answer: Respond };

const event = (RequestType: string) => ({
  RequestType,
  ResponseURL: 'https://cloudformation.example/answer',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'Hashes',
  ResourceType: 'Custom::OriginSecretHashes',
  ResourceProperties: { SecretArns: ['arn:new', 'arn:old'] },
});

const run = async (RequestType: string, readSecret: (arn: string) => Promise<string>) => {
  const sent: Array<{ url: string; body: string }> = [];
  const put = async (url: string, body: string) => void sent.push({ url, body });
  let waitedMs = 0;
  const pause = async (ms: number) => {
    waitedMs += ms;
  };
  await answer(event(RequestType), { readSecret, put, pause });
  expect(sent).toHaveLength(1);
  expect(sent[0]?.url).toBe('https://cloudformation.example/answer');
  return { text: String(sent[0]?.body), answer: JSON.parse(String(sent[0]?.body)) as Answer, waitedMs };
};

describe('the hashing of origin secrets during a deployment', () => {
  it('answers with the hash of every secret in the order asked for, and never with a secret', async () => {
    const { text, answer } = await run('Create', async (arn) => `secret of ${arn}`);
    const hashes = ['arn:new', 'arn:old'].map((arn) => createHash('sha256').update(`secret of ${arn}`).digest('hex'));
    expect(answer).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: 'Hashes',
      Data: { Sha256: hashes.join(',') },
    });
    expect(text).not.toContain('secret of');
  });

  it('answers that it failed when a secret cannot be read, without the details of the failure', async () => {
    const { text, answer } = await run('Update', async () => {
      throw new Error('the value was: hunter2');
    });
    expect(answer.Status).toBe('FAILED');
    expect(answer).not.toHaveProperty('Data');
    expect(text).not.toContain('hunter2');
  });

  it('waits for its permission, which may be younger than the function, and at most 36 seconds of its 60', async () => {
    const refused = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
    let refusals = 0;
    const young = await run('Create', async (arn) => {
      if (refusals++ < 5) throw refused;
      return `secret of ${arn}`;
    });
    expect(young.answer).toMatchObject({
      Status: 'SUCCESS',
      Data: { Sha256: expect.stringMatching(/^\w{64},\w{64}$/) },
    });
    let tries = 0;
    const never = await run('Create', async () => {
      tries += 1;
      throw refused;
    });
    expect(never.answer).toMatchObject({ Status: 'FAILED', Reason: expect.stringContaining('AccessDenied') });
    expect({ tries, waitedMs: never.waitedMs }).toEqual({ tries: 20, waitedMs: 2 * 36_000 });
  });

  it('lets itself be deleted without reading anything', async () => {
    let reads = 0;
    const { answer } = await run('Delete', async () => {
      reads += 1;
      return 'secret';
    });
    expect(answer.Status).toBe('SUCCESS');
    expect(reads).toBe(0);
  });
});
