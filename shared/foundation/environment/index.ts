export { hasAwsCredentials, readRegion } from './aws-environment.ts';
export { type Environment, readEnvironment, readVariable } from './environment.ts';
export {
  readPairs,
  readTelemetryEnvironment,
  type TelemetryEnvironment,
  toHeaders,
} from './telemetry-environment.ts';
