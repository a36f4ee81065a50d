// What stands outside the store for a bundle.

import type { Environment } from '../foundation/environment/index.ts';
import { systemRandomness } from '../foundation/ids/index.ts';
import { createLog, type Log } from '../foundation/log/index.ts';
import { systemClock } from '../foundation/time/index.ts';
import { createAwsAdapters } from './create-aws-adapters.ts';
import type { CompositionOptions } from './create-gateway-composition.ts';

const logOf = ({ stage, logLevel: level }: Environment): Log => createLog({ clock: systemClock, stage, level });

export const bundleAdapters = (
  environment: Environment,
  log: Log = logOf(environment),
): Pick<CompositionOptions, 'blobs' | 'wrapper' | 'credentials'> =>
  createAwsAdapters({ environment, clock: systemClock, randomness: systemRandomness, log });
