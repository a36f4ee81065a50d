// What one release leaves out that a former one had: a retained resource stays behind, outside of the stack, and a property
// may keep its former value. `released/` holds what the last release keeps; GW_RECORD_RELEASE=1 writes it anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { physicalTableName } from '../../shared/foundation/constants/index.ts';
import { synthesizeStage } from './synthesized-stage.ts';

interface Resource {
  readonly Type: string;
  readonly Properties?: unknown;
  readonly DeletionPolicy?: string;
}
type Resources = Readonly<Record<string, Resource>>;

const isRetained = ({ DeletionPolicy }: Resource) => DeletionPolicy?.startsWith('Retain') === true;

/** Retained resources by id and type, and properties of any resource by path, that `next` does not have any more. */
function vanished(former: Resources, next: Resources): string[] {
  return Object.entries(former).flatMap(([id, resource]) => {
    const successor = next[id];
    if (successor === undefined) return isRetained(resource) ? [`${id} (${resource.Type})`] : [];
    return missingMembers(resource.Properties, successor.Properties, id);
  });
}

function missingMembers(former: unknown, next: unknown, path: string): string[] {
  if (typeof former !== 'object' || former === null) return next === undefined ? [path] : [];
  // A function of CloudFormation stands for one value.
  if (Object.keys(former).some((name) => name === 'Ref' || name.startsWith('Fn::')))
    return next === undefined ? [path] : [];
  if (typeof next !== 'object' || next === null) return [path];
  return Object.entries(former).flatMap(([name, value]) =>
    missingMembers(value, (next as Record<string, unknown>)[name], `${path}.${name}`),
  );
}

const resourcesIn = (
  settings: Parameters<typeof synthesizeStage>[1] = {},
  more: Parameters<typeof synthesizeStage>[2] = {},
) => synthesizeStage('prod', settings, more).data.toJSON().Resources as Resources;
const retained = (resources: Resources): Resources =>
  Object.fromEntries(Object.entries(resources).filter(([, resource]) => isRetained(resource)));

const current = resourcesIn();
const recordPath = join(import.meta.dirname, 'released/data-stack-of-prod.json');
if (process.env.GW_RECORD_RELEASE === '1') writeFileSync(recordPath, `${JSON.stringify(retained(current), null, 2)}\n`);
const released = JSON.parse(readFileSync(recordPath, 'utf8')) as Resources;

describe('two releases of a stage that retains', () => {
  it('nothing that the last release keeps is gone from this one, and no property of it', () => {
    expect(Object.keys(released).length).toBeGreaterThan(10);
    expect(vanished(released, retained(current))).toEqual([]);
  });

  it('a release with one more table takes nothing away, and a roll-back across it leaves that table behind', () => {
    const older = resourcesIn({}, { withoutTables: ['spans'] });
    expect(vanished(older, current)).toEqual([]);
    expect(vanished(current, older)).toEqual([expect.stringMatching(/^Tablespans\w+ \(AWS::DynamoDB::GlobalTable\)$/)]);
    const [id = ''] = Object.keys(current).filter((known) => older[known] === undefined);
    expect(current[id]?.Properties).toMatchObject({ TableName: physicalTableName('prod', 'spans') });
  });

  it.each<[string, object, object]>([
    ['a limit on reads and writes is lifted', { tableReadsPerSecondMax: 500, tableWritesPerSecondMax: 500 }, {}],
    ['recovery is switched off', {}, { pointInTimeRecovery: false }],
    ['protection is switched off', {}, { deletionProtection: false, terminationProtection: false }],
    ['account and region are named', {}, { account: '111122223333', region: 'eu-west-1' }],
  ])('no property vanishes where %s: it may keep its former value', (_change, former, next) => {
    expect(vanished(resourcesIn(former), resourcesIn(next))).toEqual([]);
  });
});
