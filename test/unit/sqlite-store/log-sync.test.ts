// The log cannot be opened for a moment.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '#jest';
import { createLogSync } from '../../../shared/storage/sqlite-store/log-sync.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('a log whose file cannot be opened', () => {
  it('fails what waits for its sync, and is opened anew for the next one', async () => {
    const path = join(temporaryFolder(), 'gw.sqlite');
    const log = createLogSync(path);
    await expect(log.untilSynced()).rejects.toThrow('ENOENT');
    writeFileSync(`${path}-wal`, '');
    await expect(log.untilSynced()).resolves.toBeUndefined();
    await log.close();
  });

  it('keeps no store from closing', async () => {
    const log = createLogSync(join(temporaryFolder(), 'gw.sqlite'));
    await expect(log.untilSynced()).rejects.toThrow('ENOENT');
    await expect(log.close()).resolves.toBeUndefined();
  });
});
