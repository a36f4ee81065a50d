import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { AwsCallFailed, type AwsServiceOptions, createAwsService } from '../../../shared/storage/aws-calls/index.ts';
import { type Answering, type FakeAws, identity, jsonFault, startFakeAws } from '../../support/fake-aws.ts';
import { manualClock } from '../../support/manual-clock.ts';

const limitMs = 800;
const noJitter = { ...systemRandomness, fraction: () => 0 };
const post = { method: 'POST', path: '/', headers: { 'x-amz-target': 'Any.Thing' }, body: Buffer.from('{}') } as const;
const fine = { status: 200, body: 'fine' };

const started: FakeAws[] = [];
afterEach(() => {
  for (const fake of started.splice(0)) fake.stop();
});

async function serviceAt(answering: Answering, changes: Partial<AwsServiceOptions> = {}) {
  const fake = await startFakeAws(answering);
  started.push(fake);
  const service = createAwsService({
    service: 'kms',
    origin: fake.url,
    region: 'eu-west-1',
    identity: async () => identity,
    limitMs,
    answerMaxBytes: 1_000,
    clock: systemClock,
    randomness: noJitter,
    ...changes,
  });
  return { fake, service };
}

/** Answers with each of these in turn, then with the last. */
const inTurn = (...answers: ReturnType<Answering>[]): Answering => {
  let next = 0;
  return () => answers[Math.min(next++, answers.length - 1)] ?? 'reset';
};

describe('a call to AWS', () => {
  it.each(['dynamodb', 'kms', 's3', 'secretsmanager'] as const)(
    'to %s carries a signature that holds',
    async (service) => {
      const { fake, service: aws } = await serviceAt(() => fine, { service });
      expect((await aws.call(post)).toString()).toBe('fine');
      expect(fake.received[0]?.headers.authorization).toContain(`/eu-west-1/${service}/aws4_request`);
    },
  );

  it('is signed for the moment its clock says, with the credentials of that moment', async () => {
    const current = { ...identity, secretAccessKey: 'the secret of another key' };
    const { fake, service } = await serviceAt(() => fine, { clock: manualClock(), identity: async () => current });
    await expect(service.call(post)).rejects.toThrow('kms answered 403 InvalidSignatureException');
    current.secretAccessKey = identity.secretAccessKey;
    await service.call(post);
    expect(fake.received[1]?.headers['x-amz-date']).toBe('20270115T080000Z');
  });

  it('that is refused keeps status and code, and nothing of what AWS or we wrote', async () => {
    const { service } = await serviceAt(() => jsonFault(400, 'AccessDeniedException'));
    const error: unknown = await service.call(post).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(AwsCallFailed);
    expect(error).toMatchObject({ status: 400, code: 'AccessDeniedException' });
    const everything = `${JSON.stringify(error)} ${inspect(error, { depth: 9, showHidden: true })}`;
    for (const secret of ['hunter2', identity.secretAccessKey, identity.sessionToken]) {
      expect(everything).not.toContain(secret);
    }
  });

  it('that is refused tells the operator who asks what AWS said', async () => {
    const { service } = await serviceAt(() => jsonFault(400, 'AccessDeniedException'));
    const error: unknown = await service.call(post).catch((thrown) => thrown);
    expect((error as AwsCallFailed).words()).toBe('text that quotes hunter2-secret');
  });

  it('that a proxy in between refuses in words of its own is refused like any other', async () => {
    const { fake, service } = await serviceAt(() => ({ status: 503, body: String.raw`{"message": "it\'s down"}` }));
    await expect(service.call(post)).rejects.toThrow('kms answered 503 Unknown');
    expect(fake.received).toHaveLength(3);
  });

  it('that is refused for good is sent once', async () => {
    const { fake, service } = await serviceAt(() => jsonFault(400, 'ValidationException'));
    await expect(service.call(post)).rejects.toThrow('ValidationException');
    expect(fake.received).toHaveLength(1);
  });

  it.each([
    ['a broken connection', 'reset'],
    ['a fault of the service', jsonFault(500, 'InternalServiceError')],
    ['a throttled request', jsonFault(400, 'ThrottlingException')],
    ['an answer without a code', { status: 503, body: 'unavailable' }],
  ] as const)('is sent again after %s, signed anew', async (_fault, answer) => {
    const { fake, service } = await serviceAt(inTurn(answer, fine));
    expect((await service.call(post)).toString()).toBe('fine');
    expect(fake.received).toHaveLength(2);
  });

  it('is sent again after an answer that broke off', async () => {
    let calls = 0;
    const { fake, service } = await serviceAt((_received, socket) => {
      calls += 1;
      if (calls > 1) return fine;
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"half');
      return 'hang';
    });
    expect((await service.call(post)).toString()).toBe('fine');
    expect(fake.received).toHaveLength(2);
  });

  it('is sent three times at most', async () => {
    const { fake, service } = await serviceAt(() => 'reset');
    await expect(service.call(post)).rejects.toThrow('the connection broke');
    expect(fake.received).toHaveLength(3);
  });

  it('outlives a socket that died while nobody used it', async () => {
    const sockets = new Set<{ destroy(): unknown }>();
    const { service } = await serviceAt((_received, socket) => {
      sockets.add(socket);
      return fine;
    });
    await service.call(post);
    for (const socket of sockets) socket.destroy();
    expect((await service.call(post)).toString()).toBe('fine');
  });

  it('ends after its limit, all tries together, when nothing is answered', async () => {
    const clock = manualClock();
    const { fake, service } = await serviceAt(() => 'hang', { clock });
    const asked = service.call(post);
    await fake.nextRequest();
    clock.advance(limitMs);
    await expect(asked).rejects.toThrow('no answer within 800 ms');
    expect(fake.received).toHaveLength(1);
  });

  it('ends after its limit when the credentials do not come', async () => {
    const clock = manualClock();
    const { fake, service } = await serviceAt(() => fine, { clock, identity: () => new Promise(() => {}) });
    const asked = service.call(post);
    clock.advance(limitMs);
    await expect(asked).rejects.toThrow('no answer within 800 ms');
    expect(fake.received).toEqual([]);
  });

  it('ends when its caller gives up, and is not sent when he already did', async () => {
    const { fake, service } = await serviceAt(() => 'hang');
    const caller = new AbortController();
    const asked = service.call(post, caller.signal);
    await fake.nextRequest();
    caller.abort(new Error('given up'));
    await expect(asked).rejects.toThrow('given up');
    await expect(service.call(post, caller.signal)).rejects.toThrow('given up');
    expect(fake.received).toHaveLength(1);
  });

  it('takes an answer of the allowed size, and reads no further in a larger one', async () => {
    const { fake, service } = await serviceAt(
      inTurn({ status: 200, body: 'x'.repeat(1_000) }, { status: 200, body: 'x'.repeat(1_001) }),
    );
    expect(await service.call(post)).toHaveLength(1_000);
    await expect(service.call(post)).rejects.toThrow('an answer of over 1000 bytes');
    expect(fake.received).toHaveLength(2);
  });

  it('follows no redirect', async () => {
    const elsewhere = await startFakeAws(() => fine);
    started.push(elsewhere);
    const moved = { status: 307, body: '', headers: { location: elsewhere.url.href } };
    const { service } = await serviceAt(() => moved);
    await expect(service.call(post)).rejects.toThrow('kms answered 307 Unknown');
    expect(elsewhere.received).toEqual([]);
  });
});
