// What stands outside the store for a Lambda bundle.
import { createAwsAdapters } from '../aws/index.ts';
import type { Environment } from '../config/index.ts';
import { systemRandomness } from '../ids/index.ts';
import { createLog } from '../log/index.ts';
import { systemClock } from '../time/index.ts';
import type { RuntimeOptions } from './create-runtime.ts';

export function bundleAdapters(environment: Environment): Pick<RuntimeOptions, 'blobs' | 'wrapper' | 'credentials'> {
  const clock = systemClock;
  const log = createLog({ clock, stage: environment.stage, level: environment.logLevel });
  return createAwsAdapters({ environment, clock, randomness: systemRandomness, log });
}
