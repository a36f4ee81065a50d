import { describe, expect, it } from '#jest';
import { changedMembers } from '../../../shared/configuration/gateway-file/changed-members.ts';

const catalogue = (price: string, ids: readonly string[] = ['a/one', 'b/two']) => ({
  service: { queue_ms: 2000 },
  models: ids.map((id) => ({ id, providers: [{ provider: 'acme', input_price_per_million: price }] })),
});

describe('changed members', () => {
  it('of equal documents are none, whatever the order of their members', () => {
    expect(changedMembers({ a: 1, b: { c: 2 } }, { b: { c: 2 }, a: 1 })).toEqual([]);
  });

  it('name the place as a person would, old and new', () => {
    expect(changedMembers(catalogue('1.00', ['a/one']), catalogue('2.00', ['a/one']))).toEqual([
      { path: 'models[a/one].providers[acme].input_price_per_million', from: '1.00', to: '2.00' },
    ]);
  });

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

  it('show lists without names, and values of another kind, as they are', () => {
    expect(changedMembers({ regions: ['eu'], models: 'all' }, { regions: ['eu', 'us'], models: ['a'] })).toEqual([
      { path: 'regions', from: ['eu'], to: ['eu', 'us'] },
      { path: 'models', from: 'all', to: ['a'] },
    ]);
  });

  it('tell null from a member that is not there', () => {
    expect(changedMembers({ limit: null }, {})).toEqual([{ path: 'limit', from: null }]);
    expect(changedMembers({}, { limit: null })).toEqual([{ path: 'limit', to: null }]);
    expect(changedMembers({ limit: undefined }, {})).toEqual([]);
  });
});
