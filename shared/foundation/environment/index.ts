export { hasAwsCredentials, readRegion } from './aws-environment.ts';
export { type Environment, readEnvironment, readVariable } from './environment.ts';
