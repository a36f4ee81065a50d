import { describe, expect, it } from '#jest';
import {
  destructiveChanges,
  type MemberChange,
  restoredKeys,
} from '../../../shared/configuration/gateway-file/index.ts';

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

  it.each<MemberChange>([
    { path: 'models[acme/large-1]', to: {} },
    { path: 'models[m].providers[acme].input_price_per_million', from: '1', to: '2' },
    { path: 'models', from: ['x'], to: 'all' },
    { path: 'status', from: 'revoked', to: 'active' },
    { path: 'rpm', from: null, to: 5 },
    { path: 'active', from: 'r1', to: 'r2' },
  ])('is not what only adds or changes: %j', (member) => {
    expect(destructiveChanges(changed('anything', member))).toEqual([]);
  });
});

it('a plan that makes a revoked key active again names the key', () => {
  const status = (from: string, to: string) => changed('key ci of a', { path: 'status', from, to });
  expect(restoredKeys(status('revoked', 'active'))).toEqual(['key ci of a']);
  expect(restoredKeys(status('active', 'revoked'))).toEqual([]);
});
