export {
  type AwsCredentials,
  type AwsEnvironment,
  hasAwsCredentials,
  readAwsCredentials,
  readDynamoPlace,
  type Variables,
} from './aws-environment.ts';
export { type Environment, readEnvironment, readVariable } from './environment.ts';
