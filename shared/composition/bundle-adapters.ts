// What stands outside the store for a bundle.

import type { Environment } from '../foundation/environment/index.ts';
import { systemRandomness } from '../foundation/ids/index.ts';
import { createLog } from '../foundation/log/index.ts';
import { systemClock } from '../foundation/time/index.ts';
import { createAwsAdapters } from './create-aws-adapters.ts';
import type { CompositionOptions } from './create-gateway-composition.ts';

export function bundleAdapters(
  environment: Environment,
): Pick<CompositionOptions, 'blobs' | 'wrapper' | 'credentials'> {
  const clock = systemClock;
  const log = createLog({ clock, stage: environment.stage, level: environment.logLevel });
  return createAwsAdapters({ environment, clock, randomness: systemRandomness, log });
}
