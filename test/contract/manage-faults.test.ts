// Faults of the gateway itself at the management interface: they do not blame an operator who cannot correct them.
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import type { Composition } from '../../shared/composition/index.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { asOperator, type OperatorRequests, operatorOf } from '../support/operator-requests.ts';

let gateway: Harness;
let ada: OperatorRequests;

beforeAll(async () => {
  gateway = await startHarness({
    models: { 'acme/echo': [{ provider: 'acme', upstream: 'echo' }] },
    workspace: { functions: [promptFunction('label', 'acme/echo')] },
  });
  ada = await operatorOf(gateway, 'ada');
});
afterAll(() => gateway.stop());

const missing = 'Cannot find module /var/task/kms-calls.cjs';
const fault = async (): Promise<never> => {
  throw Object.assign(new Error(missing), { code: 'MODULE_NOT_FOUND' });
};
const failing: readonly {
  readonly what: string;
  readonly replace: (composition: Composition) => Partial<Composition>;
  readonly send: (operator: OperatorRequests) => ReturnType<OperatorRequests['send']>;
}[] = [
  {
    what: 'a file whose functions cannot be compared',
    replace: ({ functionStore }) => ({ functionStore: { ...functionStore, plan: fault } }),
    async send(operator) {
      const { response, body } = await operator.get('/configuration');
      const file = parse(body);
      file.workspaces[0].functions[0].status = 'disabled';
      return operator.send('PUT', '/configuration', file, { 'if-match': response.headers.get('etag') ?? '' });
    },
  },
  {
    what: 'an activation',
    replace: ({ functionStore }) => ({ functionStore: { ...functionStore, activate: fault } }),
    send: (operator) => operator.send('POST', '/functions/team/label/activate', { revision: 'r1' }),
  },
  {
    what: 'the change of a key',
    replace: ({ keys }) => ({ keys: { ...keys, update: fault } }),
    async send(operator) {
      const { body } = await operator.get('/keys');
      return operator.send('PATCH', `/keys/${body.data[0].public_id}`, { rpm: 9 });
    },
  },
];

describe('a fault of the gateway', () => {
  it.each(failing)('in $what is an internal error, and its text stays in the log', async ({ replace, send }) => {
    const { url } = await gateway.open({ replace });
    const { status, body } = await send(asOperator({ url }, ada.key));
    expect([status, body.error]).toEqual([500, 'internal_error']);
    expect(body).not.toHaveProperty('param');
    expect(JSON.stringify(body)).not.toContain('module');
    expect(gateway.logLines.join('\n')).toContain(missing);
  });
});
