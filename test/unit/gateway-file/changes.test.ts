import { describe, expect, it } from '#jest';
import { changedMembers } from '../../../shared/configuration/gateway-file/changed-members.ts';
import {
  destructiveChanges,
  type MemberChange,
  restoredKeys,
} from '../../../shared/configuration/gateway-file/index.ts';

const catalogue = (price: string, ids: readonly string[] = ['a/one', 'b/two']) => ({
  service: { queue_ms: 2000 },
  models: ids.map((id) => ({ id, providers: [{ provider: 'acme', input_price_per_million: price }] })),
});

describe('changed members', () => {
  it('tell a new and a lost entry of a list from renamed ones', () => {
    const changes = changedMembers(catalogue('1.00', ['a/one', 'b/two']), catalogue('1.00', ['c/three', 'b/two']));
    expect(changes.map(({ path, ...sides }) => [path, Object.keys(sides)])).toEqual([
      ['models[a/one]', ['from']],
      ['models[c/three]', ['to']],
    ]);
  });

  it('show that entries changed places: order decides between equal prices', () => {
    expect(changedMembers(catalogue('1.00'), catalogue('1.00', ['b/two', 'a/one']))).toEqual([
      { path: 'models (order)', from: ['a/one', 'b/two'], to: ['b/two', 'a/one'] },
    ]);
  });
});

const changed = (resource: string, ...members: MemberChange[]) => [{ resource, change: 'changed', members }] as const;

describe('what a plan takes away', () => {
  it.each<[string, MemberChange, string]>([
    ['catalogue', { path: 'models[acme/large-1]', from: {} }, 'models[acme/large-1] of catalogue'],
    ['catalogue', { path: 'providers[acme]', from: {} }, 'providers[acme] of catalogue'],
    [
      'catalogue',
      { path: 'service.function_execution', from: 'enabled', to: 'disabled' },
      'service.function_execution of catalogue is disabled',
    ],
    ['workspace a', { path: 'presets[terse]', from: {} }, 'presets[terse] of workspace a'],
    ['workspace a', { path: 'features.byok', from: true, to: false }, 'features.byok of workspace a is off'],
    ['key ci of a', { path: 'status', from: 'active', to: 'revoked' }, 'key ci of a is revoked'],
    ['function f of a', { path: 'status', from: 'enabled', to: 'disabled' }, 'function f of a is disabled'],
    ['function f of a', { path: 'active', from: 'r2', to: null }, 'active revision r2 of function f of a'],
  ])('is named: %s %j', (resource, member, line) => {
    expect(destructiveChanges(changed(resource, member))).toEqual([line]);
  });

  it('is a connection that is removed', () => {
    const removed = { resource: 'byok connection to acme of a', change: 'removed', members: [] } as const;
    expect(destructiveChanges([removed])).toEqual(['byok connection to acme of a']);
  });
});

it('a plan that makes a revoked key active again names the key', () => {
  const status = (from: string, to: string) => changed('key ci of a', { path: 'status', from, to });
  expect(restoredKeys(status('revoked', 'active'))).toEqual(['key ci of a']);
  expect(restoredKeys(status('active', 'revoked'))).toEqual([]);
});
