import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { keySettings, type SettingRows, workspaceSettings } from '../../shared/configuration/settings/index.ts';
import { type SettingPart as Part, samples, valueAt, withValue } from '../support/setting-samples.ts';
import { projectRoot } from '../support/source-files.ts';
import { gatewayFile, type LocalStore, startLocalStore } from './local-store.ts';
import { operate, operateJson } from './operator.ts';

const rowsOf = (rows: SettingRows) =>
  Object.entries(rows).map(([name, { kind, option }]) => {
    const { none = 'none', absent = null, ...sample } = samples[kind];
    return { name, flag: option[0].split(' ')[0] ?? '', none, absent, ...sample };
  });

describe('every setting', () => {
  it.each(['workspaces', 'keys'])('of %s is in the file with every field, or in the table beside it', (owner) => {
    const folder = join(projectRoot, 'shared/configuration/gateway-file');
    const page = ['every-field.yaml', 'README.md'].map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    const names = Object.keys(owner === 'keys' ? keySettings : workspaceSettings);
    const missing = names.filter((name) => !new RegExp(`\\b${name.split('.').at(-1)}\\b`).test(page));
    expect(missing).toEqual([]);
  });

  let local: LocalStore;
  const id = (name: string) => name.replaceAll(/[._]/g, '-');
  const guardrails = ['words', 'names'].map((guardrail) => ({
    id: guardrail,
    kind: 'http',
    url: 'https://guard.example/check',
  }));
  const file = (workspace: object) => ({
    ...gatewayFile({ workspace: { content_log: { keep: '90d' }, ...workspace } }),
    guardrails,
  });
  const apply = (content: unknown) =>
    operate(`apply -f ${local.write('gateway.yaml', content)} ${local.option} --json`);
  const exportedFile = async () => {
    const text = (await operate(`export ${local.option}`)).out;
    const { workspaces } = parse(text) as {
      readonly workspaces: readonly (Part & { readonly keys: readonly Part[] })[];
    };
    return { text, workspaces, keys: workspaces.find((one) => one.id === 'team')?.keys ?? [] };
  };
  const changesOf = async (content: unknown) => {
    const { changes } = JSON.parse((await apply(content)).out) as { readonly changes: readonly Part[] };
    return changes.filter(({ change }) => change !== 'unchanged');
  };
  beforeAll(async () => {
    local = await startLocalStore();
    expect((await apply(file({}))).code).toBe(0);
  });
  afterAll(() => local.stop());

  describe.each(rowsOf(keySettings))('of a key: $name', ({ name, flag, text, value, wrong, none, absent }) => {
    it('is set by a command and by a file alike, exported, and removed again', async () => {
      const createdId = `${id(name)}-made`;
      const key = (more: string) => `keys update ${createdId} --workspace team ${more} ${local.option}`;
      expect(
        (await operate(`keys create --workspace team --name ${createdId} ${flag} ${text} ${local.option}`)).code,
      ).toBe(0);
      const writtenBody = { name: `${id(name)}-written`, [name]: value };
      expect((await apply(file({ keys: [writtenBody] }))).code).toBe(0);
      const { keys, text: whole } = await exportedFile();
      const [first, second] = [createdId, writtenBody.name].map((name) => keys.find((one) => one.name === name) ?? {});
      expect(first).toEqual({ ...second, name: createdId });
      expect(first?.[name]).toEqual(value);
      expect(await changesOf(parse(whole))).toEqual([]);
      expect(await operateJson(key(`${flag} ${text}`))).toMatchObject({ change: 'unchanged', [name]: value });
      expect(await operateJson(key(`${flag} ${none}`))).toMatchObject({ change: 'changed' });
      expect(valueAt((await exportedFile()).keys.find((one) => one.name === createdId) ?? {}, name) ?? absent).toEqual(
        absent,
      );
    });

    it('is refused if its value is no such value, by its name', async () => {
      const line = await operate(`keys create --workspace team --name wrong ${flag} ${wrong[0]} ${local.option}`);
      expect([line.code, line.error]).toEqual([2, expect.stringContaining(flag)]);
      const { code, out, error } = await apply(file({ keys: [{ name: 'wrong', [name]: wrong[1] }] }));
      expect(code).not.toBe(0);
      expect(out + error).toContain(`workspaces[0].keys[0].${name}`);
      expect((await exportedFile()).keys.map((key) => key.name)).not.toContain('wrong');
    });
  });

  describe.each(rowsOf(workspaceSettings))(
    'of a workspace: $name',
    ({ name, flag, text, value, wrong, none, absent }) => {
      it('is set by a command and by a file alike, exported, and removed again', async () => {
        const [createdId, writtenId] = [`${id(name)}-made`, `${id(name)}-written`];
        const update = (more: string) => operateJson<Part>(`workspaces update ${createdId} ${more} ${local.option}`);
        expect((await operate(`workspaces create ${createdId} ${flag} ${text} ${local.option}`)).code).toBe(0);
        expect((await apply(file({ id: writtenId, ...withValue(name, value) }))).code).toBe(0);
        const { workspaces, text: whole } = await exportedFile();
        for (const id of [createdId, writtenId]) {
          expect(valueAt(workspaces.find((one) => one.id === id) ?? {}, name)).toEqual(value);
        }
        expect(await changesOf(parse(whole))).toEqual([]);
        expect(await update(`${flag} ${text}`)).toMatchObject({ change: 'unchanged', ...withValue(name, value) });
        expect(valueAt(await update(`${flag} ${none}`), name)).toEqual(absent);
      });

      it('is refused if its value is no such value, by its name', async () => {
        const line = await operate(`workspaces create wrong ${flag} ${wrong[0]} ${local.option}`);
        expect([line.code, line.error]).toEqual([2, expect.stringContaining(flag)]);
        const { code, out, error } = await apply(file({ id: 'wrong', ...withValue(name, wrong[1]) }));
        expect(code).not.toBe(0);
        expect(out + error).toContain(`workspaces[0].${name}`);
        expect((await exportedFile()).workspaces.map((one) => one.id)).not.toContain('wrong');
      });
    },
  );
});
